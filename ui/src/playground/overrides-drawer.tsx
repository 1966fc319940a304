/** Settings for the requests of this page alone. */
import { Button, Drawer, MultiSelect, NumberInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Agent } from '../agents/queries.ts'
import { providerList } from '../providers/queries.ts'
import { listOf, type NumberKey, overrideNames, type ToolKey, toolKeys, useOverrides } from './overrides.ts'
import { toolOptions } from './tool-options.ts'

interface NumberField {
  key: NumberKey
  about: string
  step: number
  most?: number
  /** What holds where the agent says nothing. */
  standard: string
}

const numbers: NumberField[] = [
  {
    key: 'temperature',
    about: '0 is the most even, 2 the most varied.',
    step: 0.1,
    most: 2,
    standard: "the model's own",
  },
  {
    key: 'topP',
    about: 'Only the likeliest words whose chances add up to this.',
    step: 0.05,
    most: 1,
    standard: "the model's own",
  },
  { key: 'topK', about: 'Only so many of the likeliest words.', step: 1, standard: "the model's own" },
  { key: 'maxToolCalls', about: '0 offers no tools.', step: 1, most: 100, standard: '10' },
]

export default function OverridesDrawer({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const { overrides, set, clear } = useOverrides()
  const providers = useQuery(providerList({ limit: 100, offset: 0 })).data?.items ?? []
  return (
    <Drawer opened onClose={onClose} position="right" size={400} padding="lg" title="Overrides">
      <Stack gap="md">
        <Text fz="sm" c="dimmed">
          For the messages that you send from this address. The agent itself stays as it is.
        </Text>
        <Select
          label="Provider"
          placeholder={providers.find(({ id }) => id === agent.providerId)?.name ?? ''}
          data={providers.map(({ id, name }) => ({ value: id, label: name }))}
          value={overrides.provider ?? null}
          onChange={(provider) => set({ provider })}
          clearable
          clearButtonProps={{ 'aria-label': "The agent's provider again" }}
        />
        <TextInput
          label="Model"
          placeholder={agent.model}
          value={overrides.model ?? ''}
          onChange={({ currentTarget: { value } }) => set({ model: value || null })}
        />
        {numbers.map(({ key, about, step, most, standard }) => (
          <NumberInput
            key={key}
            label={overrideNames[key]}
            description={about}
            placeholder={String(agent.generationConfig[key] ?? standard)}
            step={step}
            min={0}
            {...(most !== undefined && { max: most })}
            value={overrides[key] ?? ''}
            onChange={(value) => set({ [key]: value === '' ? null : String(value) })}
          />
        ))}
        {toolKeys.map((key) => (
          <Tools key={key} kind={key} value={overrides[key]} onChange={(value) => set({ [key]: value })} />
        ))}
        <Button variant="default" disabled={Object.keys(overrides).length === 0} onClick={clear}>
          Use the agent's settings
        </Button>
      </Stack>
    </Drawer>
  )
}

interface ToolsProps {
  kind: ToolKey
  /** Ids divided by commas; undefined: the agent's own. */
  value: string | undefined
  onChange: (value: string | null) => void
}

function Tools({ kind, value, onChange }: ToolsProps) {
  const options = useQuery(toolOptions).data?.[kind] ?? []
  return (
    <div>
      <Switch
        label={`Other ${overrideNames[kind]} than the agent's`}
        checked={value !== undefined}
        onChange={({ currentTarget: { checked } }) => onChange(checked ? '' : null)}
      />
      {value !== undefined && (
        <MultiSelect
          mt={8}
          aria-label={overrideNames[kind]}
          placeholder={value === '' ? 'None' : ''}
          data={options}
          value={listOf(value)}
          onChange={(ids) => onChange(ids.join(','))}
          searchable
          nothingFoundMessage="There is none of this name."
        />
      )}
    </div>
  )
}
