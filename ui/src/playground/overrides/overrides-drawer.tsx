/** Settings for the requests of one column alone. */
import { Button, Drawer, Stack, Text, Textarea } from '@mantine/core'
import type { Agent } from '../../agents/resource.ts'
import { SettingFields, ToolFields } from './override-fields.tsx'
import { PromptSelect } from './override-inputs.tsx'
import type { OverrideState } from './overrides.ts'

interface OverridesDrawerProps {
  agent: Agent
  state: OverrideState
  onClose: () => void
  title: string
}

export default function OverridesDrawer({ agent, state, onClose, title }: OverridesDrawerProps) {
  const { overrides, set, clear } = state
  return (
    <Drawer opened onClose={onClose} position="right" size={400} padding="lg" title={title}>
      <Stack gap="md">
        <Text fz="sm" c="dimmed">
          For the messages that you send from this page. The agent itself is not changed.
        </Text>
        <PromptSelect agent={agent} state={state} />
        <Textarea
          label="System prompt"
          description="Instead of any stored prompt."
          autosize
          minRows={2}
          maxRows={10}
          value={overrides.system ?? ''}
          onChange={({ currentTarget: { value } }) => set({ system: value || null })}
        />
        <SettingFields agent={agent} state={state} />
        <ToolFields state={state} />
        <Button variant="default" disabled={Object.keys(overrides).length === 0} onClick={clear}>
          Use the agent’s settings
        </Button>
      </Stack>
    </Drawer>
  )
}
