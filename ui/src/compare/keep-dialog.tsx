/** Writes a column's settings to the agent, after it has said which. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { keepOverrides } from '../agents/keep-overrides.ts'
import type { Agent } from '../agents/resource.ts'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { OverrideList } from '../playground/overrides/override-chips.tsx'
import type { Overrides } from '../playground/overrides/overrides.ts'

interface KeepDialogProps {
  agent: Agent
  overrides: Overrides
  onClose: () => void
}

export function KeepDialog({ agent, overrides, onClose }: KeepDialogProps) {
  const [promptName, setPromptName] = useState(`${agent.name}, compared`)
  const keep = useMutation({
    mutationFn: () => keepOverrides(agent, overrides, { name: promptName }),
    onSuccess() {
      onClose()
      notifications.show({ message: `${agent.name} now has these settings.` })
    },
  })
  const isAsItIs = Object.keys(overrides).length === 0
  return (
    <Modal opened onClose={onClose} title={isAsItIs ? 'Nothing to change' : `Change ${agent.name}?`}>
      <Stack>
        <Text>
          {isAsItIs
            ? 'This column has the agent’s own settings.'
            : 'From the next message on, everybody who talks to this agent gets these settings:'}
        </Text>
        <OverrideList overrides={overrides} />
        {overrides.system !== undefined && (
          <TextInput
            label="Name of the prompt"
            description="The system prompt is stored as a new prompt."
            value={promptName}
            onChange={({ currentTarget: { value } }) => setPromptName(value)}
          />
        )}
        <ErrorAlert error={keep.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {isAsItIs ? 'Close' : 'Cancel'}
          </Button>
          {!isAsItIs && (
            <Button loading={keep.isPending} onClick={() => keep.mutate()}>
              Change the agent
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}
