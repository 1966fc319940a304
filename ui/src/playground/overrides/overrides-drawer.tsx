/** Settings for the requests of this page alone. */
import { Button, Drawer, MultiSelect, NumberInput, Select, Stack, Switch, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reasoningEfforts } from '../../agents/agent-values.ts'
import type { Agent } from '../../agents/resource.ts'
import { type ToolKey, toolKeys, toolKinds } from '../../agents/tool-kinds.ts'
import { providerResource } from '../../providers/resource.ts'
import { ModelInput, PromptSelect } from './override-inputs.tsx'
import { listOf, type NumberKey, type OverrideState, overrideName } from './overrides.ts'

interface NumberField {
  key: NumberKey
  about: string
  step: number
  most?: number
  /** What applies where the agent sets nothing. */
  fallback: string
}

const numbers: NumberField[] = [
  {
    key: 'temperature',
    about: '0 is the most predictable, 2 the most varied.',
    step: 0.1,
    most: 2,
    fallback: 'Provider default',
  },
  {
    key: 'topP',
    about: 'Only the likeliest words whose probabilities add up to this.',
    step: 0.05,
    most: 1,
    fallback: 'Provider default',
  },
  { key: 'topK', about: 'Only this many of the likeliest words.', step: 1, fallback: 'Provider default' },
  { key: 'maxToolCalls', about: '0 turns tools off.', step: 1, most: 100, fallback: '10' },
  { key: 'maxOutputTokens', about: 'Of one answer, reasoning included.', step: 1, fallback: 'Provider default' },
]

interface OverridesDrawerProps {
  agent: Agent
  state: OverrideState
  onClose: () => void
  title?: string
}

export default function OverridesDrawer({ agent, state, onClose, title = 'Overrides' }: OverridesDrawerProps) {
  const { overrides, set, clear } = state
  const providers = useQuery(providerResource.all).data ?? []
  return (
    <Drawer opened onClose={onClose} position="right" size={400} padding="lg" title={title}>
      <Stack gap="md">
        <Text fz="sm" c="dimmed">
          For the messages that you send from this page. The agent itself is not changed.
        </Text>
        <Select
          label="Provider"
          placeholder={providers.find(({ id }) => id === agent.providerId)?.name ?? ''}
          data={providers.map(({ id, name }) => ({ value: id, label: name }))}
          value={overrides.provider ?? null}
          onChange={(provider) => set({ provider })}
          clearable
          clearButtonProps={{ 'aria-label': 'Use the agent’s provider' }}
        />
        <ModelInput agent={agent} state={state} />
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
        {numbers.map(({ key, about, step, most, fallback }) => (
          <NumberInput
            key={key}
            label={overrideName(key)}
            description={about}
            placeholder={String(agent.generationConfig[key] ?? fallback)}
            step={step}
            min={0}
            {...(most !== undefined && { max: most })}
            value={overrides[key] ?? ''}
            onChange={(value) => set({ [key]: value === '' ? null : String(value) })}
          />
        ))}
        <Select
          label={overrideName('reasoningEffort')}
          description="How long the model may think."
          placeholder={agent.generationConfig.reasoningEffort ?? 'Provider default'}
          data={reasoningEfforts}
          value={overrides.reasoningEffort ?? null}
          onChange={(reasoningEffort) => set({ reasoningEffort })}
          clearable
          clearButtonProps={{ 'aria-label': 'Use the agent’s reasoning effort' }}
        />
        {toolKeys.map((key) => (
          <Tools key={key} kind={key} value={overrides[key]} onChange={(value) => set({ [key]: value })} />
        ))}
        <Button variant="default" disabled={Object.keys(overrides).length === 0} onClick={clear}>
          Use the agent’s settings
        </Button>
      </Stack>
    </Drawer>
  )
}

interface ToolsProps {
  kind: ToolKey
  /** Ids separated by commas; undefined: the agent's own. */
  value: string | undefined
  onChange: (value: string | null) => void
}

function Tools({ kind, value, onChange }: ToolsProps) {
  const { title, all } = toolKinds[kind]
  const { data: tools = [] } = useQuery(all)
  return (
    <div>
      <Switch
        label={`${title} other than the agent’s`}
        checked={value !== undefined}
        onChange={({ currentTarget: { checked } }) => onChange(checked ? '' : null)}
      />
      {value !== undefined && (
        <MultiSelect
          mt={8}
          aria-label={title}
          placeholder={value === '' ? 'None' : ''}
          data={tools.map(({ id, name }) => ({ value: id, label: name }))}
          value={listOf(value)}
          onChange={(ids) => onChange(ids.join(','))}
          searchable
          nothingFoundMessage="No results"
        />
      )}
    </div>
  )
}
