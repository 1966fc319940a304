/** Makes the changes the agent's own. A changed prompt text goes into the agent's prompt, or becomes a new one. */
import { Button, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keepOverrides } from '../../agents/keep-overrides.ts'
import { type Agent, allAgents } from '../../agents/resource.ts'
import { ApiError } from '../../api.ts'
import { ChangedElsewhere } from '../../blocks/editing/changed-elsewhere.tsx'
import { useBegunEdits } from '../../blocks/editing/edits.ts'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { plural } from '../../blocks/words.ts'
import { promptPath, promptResource } from '../../prompts/resource.ts'
import { OverrideList } from '../overrides/override-chips.tsx'
import type { OverrideState } from '../overrides/overrides.ts'

interface SaveDialogProps {
  agent: Agent
  state: OverrideState
  onClose: () => void
}

export function SaveDialog({ agent, state: { overrides, set, clear }, onClose }: SaveDialogProps) {
  const promptId = overrides.prompt ?? agent.promptId
  const { data: prompt } = useQuery({ ...promptResource.one(promptId ?? ''), enabled: promptId !== null })
  const edits = useBegunEdits(promptPath(promptId ?? ''), overrides.systemTag)
  const [where, setWhere] = useState(promptId === null ? 'new' : 'same')
  const [name, setName] = useState(`${agent.name}, edited`)
  const saving = useMutation({
    mutationFn: () => keepOverrides(agent, overrides, where === 'same' && prompt ? { prompt } : { name }, edits),
    onSuccess() {
      clear()
      onClose()
      notifications.show({ message: 'Saved.' })
    },
  })
  const isChangedElsewhere = saving.error instanceof ApiError && saving.error.status === 412
  return (
    <Modal opened onClose={onClose} title={`Save to ${agent.name}`}>
      <Stack>
        <Text>From the next message on, everybody who talks to this agent gets these settings:</Text>
        <OverrideList overrides={overrides} />
        {overrides.system !== undefined && (
          <Radio.Group label="The prompt’s text" value={where} onChange={setWhere}>
            <Stack gap={6} mt={6}>
              {prompt && <SamePrompt id={prompt.id} name={prompt.name} />}
              <Radio value="new" label="Save as a new prompt, for this agent alone" />
            </Stack>
          </Radio.Group>
        )}
        {overrides.system !== undefined && where === 'new' && (
          <TextInput
            label="Name of the new prompt"
            value={name}
            onChange={({ currentTarget: { value } }) => setName(value)}
          />
        )}
        {isChangedElsewhere ? (
          <ChangedElsewhere
            error={saving.error}
            onReload={() => {
              if (overrides.system === undefined) clear()
              else void set({ system: null })
              promptResource.changed()
              onClose()
            }}
            onOverwrite={() => {
              edits.letGo()
              saving.mutate()
            }}
          />
        ) : (
          <ErrorAlert error={saving.error} />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button loading={saving.isPending} onClick={() => saving.mutate()}>
            Save
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function SamePrompt({ id, name }: { id: string; name: string }) {
  const { data: agents = [] } = useQuery(allAgents)
  const uses = agents.filter(({ promptId }) => promptId === id).length
  return <Radio value="same" label={`Change the prompt “${name}”`} description={`Used by ${plural(uses, 'agent')}.`} />
}
