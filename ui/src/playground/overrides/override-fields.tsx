/** Inputs of what a request may have otherwise than its agent. When empty, the agent's setting applies. */
import { MultiSelect, NumberInput, Select, Stack, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reasoningEfforts } from '../../agents/agent-values.ts'
import type { Agent } from '../../agents/resource.ts'
import { type ToolKey, toolKeys, toolKinds } from '../../agents/tool-kinds.ts'
import { providerResource } from '../../providers/resource.ts'
import { ModelInput } from './override-inputs.tsx'
import { listOf, type NumberKey, type OverrideState, overrideName } from './overrides.ts'

interface FieldsProps {
  agent: Agent
  state: OverrideState
}

interface NumberField {
  key: NumberKey
  about: string
  step: number
  most?: number
  /** The value that applies where the agent sets none. */
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

export function SettingFields({ agent, state }: FieldsProps) {
  const { overrides, set } = state
  const providers = useQuery(providerResource.all).data ?? []
  return (
    <Stack gap="md">
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
    </Stack>
  )
}

export const ToolFields = ({ state: { overrides, set } }: Pick<FieldsProps, 'state'>) => (
  <Stack gap="md">
    {toolKeys.map((key) => (
      <Tools key={key} kind={key} value={overrides[key]} onChange={(value) => set({ [key]: value })} />
    ))}
  </Stack>
)

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
