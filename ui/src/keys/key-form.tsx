import { Checkbox, MultiSelect, NativeSelect, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { allAgents } from '../agents/resource.ts'
import { FormSection } from '../blocks/forms/form-section.tsx'
import { RecordForm } from '../blocks/forms/record-form.tsx'
import type { LimitUse } from '../limits/limit-values.ts'
import { LimitsFields } from '../limits/limits-fields.tsx'
import { type KeyValues, valuesOf } from './key-values.ts'
import type { Key, KeyScope } from './resource.ts'

const scopes: readonly { value: KeyScope; label: string; description: string }[] = [
  { value: 'deploy', label: 'Talk to agents', description: 'The deploy API of the agents below.' },
  {
    value: 'management',
    label: 'Manage everything',
    description: 'As a login does, except keys and audit: for pipelines.',
  },
  { value: 'management:read', label: 'Read everything', description: 'What can be read with a login, and no changes.' },
  { value: 'audit:read', label: 'Collect the audit', description: 'The audit, and nothing else.' },
]

const managing: readonly KeyScope[] = ['management', 'management:read']

const roles = [
  { value: '', label: 'All that the scope opens' },
  { value: 'admin', label: 'Admin' },
  { value: 'editor', label: 'Editor: everything but keys, webhooks, providers, audit and transfers' },
  { value: 'viewer', label: 'Viewer: configuration and figures, no conversations' },
]

interface KeyFormProps<Saved> {
  /** Null while it is being created. */
  record: Key | null
  use?: LimitUse | undefined
  save: (values: KeyValues) => Promise<Saved>
  onSaved: (saved: Saved) => void
}

export function KeyForm<Saved>({ record, use, save, onSaved }: KeyFormProps<Saved>) {
  const form = useForm<KeyValues>({
    initialValues: valuesOf(record),
    validate: { scopes: (chosen) => (chosen.length === 0 ? 'Choose at least one.' : null) },
  })
  const { data: agents = [] } = useQuery(allAgents)
  const opensAgents = form.values.scopes.includes('deploy')
  return (
    <RecordForm form={form} save={save} onSaved={onSaved} submitLabel={record ? 'Save' : 'Create key'}>
      <TextInput
        label="Name"
        withAsterisk
        description="Who or what it is for. The audit names it."
        placeholder="Tenant A"
        maw={420}
        {...form.getInputProps('name')}
      />
      <Checkbox.Group
        label="Permissions"
        description={record ? 'Cannot be changed: make another key for something else.' : undefined}
        {...form.getInputProps('scopes')}
      >
        <Stack gap="sm" mt="xs">
          {scopes.map((scope) => (
            <Checkbox key={scope.value} disabled={record !== null} {...scope} />
          ))}
        </Stack>
      </Checkbox.Group>
      {form.values.scopes.some((scope) => managing.includes(scope)) && (
        <NativeSelect
          label="Role"
          description={record ? 'Cannot be changed.' : 'Narrows what it opens to what this role may do.'}
          disabled={record !== null}
          data={roles}
          maw={420}
          {...form.getInputProps('role')}
        />
      )}
      {opensAgents && (
        <>
          <Switch label="All agents, new ones too" {...form.getInputProps('isForAll', { type: 'checkbox' })} />
          {!form.values.isForAll && (
            <MultiSelect
              label="Agents"
              description="Paths of other agents are refused. An agent that is deleted is removed from the list."
              searchable
              hidePickedOptions
              nothingFoundMessage="No results"
              data={agents.map(({ id, name }) => ({ value: id, label: name }))}
              {...form.getInputProps('agentIds')}
            />
          )}
        </>
      )}
      <TextInput
        type="date"
        label="Expires on"
        description="From the next day on, UTC, it is refused. Leave empty for a key that does not expire."
        maw={240}
        {...form.getInputProps('expiresOn')}
      />
      {opensAgents && (
        <FormSection
          title="Limits"
          description="For all requests with this key, on all servers. A request over a limit is refused and says when to try again."
        >
          <LimitsFields path="limits" getInputProps={form.getInputProps} use={use} />
        </FormSection>
      )}
    </RecordForm>
  )
}
