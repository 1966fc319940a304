import { Checkbox, MultiSelect, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { allAgents } from '../agents/resource.ts'
import { RecordForm } from '../blocks/forms/record-form.tsx'
import { eventWords, type Webhook, type WebhookFields } from './resource.ts'

interface Values extends Omit<WebhookFields, 'agentIds'> {
  allAgents: boolean
  agentIds: string[]
}

const valuesOf = (webhook: Webhook | null): Values => ({
  name: webhook?.name ?? '',
  url: webhook?.url ?? '',
  events: webhook?.events ?? ['reply.completed', 'reply.failed'],
  allAgents: webhook === null || webhook.agentIds === null,
  agentIds: webhook?.agentIds ?? [],
  enabled: webhook?.enabled ?? true,
})

interface WebhookFormProps {
  /** Null while it is being created. */
  webhook: Webhook | null
  save: (fields: WebhookFields) => Promise<Webhook>
  onSaved: (webhook: Webhook) => void
}

export function WebhookForm({ webhook, save, onSaved }: WebhookFormProps) {
  const form = useForm<Values>({ initialValues: valuesOf(webhook) })
  const { data: agents = [] } = useQuery(allAgents)
  return (
    <RecordForm
      form={form}
      save={({ allAgents: isAll, agentIds, url, ...fields }) =>
        save({ ...fields, url: url.trim(), agentIds: isAll ? null : agentIds })
      }
      onSaved={onSaved}
      submitLabel={webhook ? 'Save' : 'Create webhook'}
    >
      <TextInput label="Name" withAsterisk placeholder="Order system" maw={420} {...form.getInputProps('name')} />
      <TextInput
        label="URL"
        withAsterisk
        description="Receives a POST for each event. Redirects are not followed."
        placeholder="https://example.com/greenroom"
        spellCheck={false}
        {...form.getInputProps('url')}
      />
      <Checkbox.Group label="Events" {...form.getInputProps('events')}>
        <Stack gap={8} mt={8}>
          {Object.entries(eventWords).map(([value, label]) => (
            <Checkbox key={value} value={value} label={label} description={value} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Switch
        label="Events of all agents"
        description="Agents that are created later included."
        {...form.getInputProps('allAgents', { type: 'checkbox' })}
      />
      {!form.values.allAgents && (
        <MultiSelect
          label="Agents"
          description="With none chosen, nothing is sent."
          searchable
          limit={100}
          nothingFoundMessage="No results"
          data={agents.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps('agentIds')}
        />
      )}
      <Switch
        label="Enabled"
        description="While it is off, nothing is recorded, and what is pending waits."
        {...form.getInputProps('enabled', { type: 'checkbox' })}
      />
    </RecordForm>
  )
}
