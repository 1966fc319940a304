import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { FormSection } from '../blocks/form-section.tsx'
import { RecordForm } from '../blocks/record-form.tsx'
import { type AgentValues, fieldsOf } from './agent-values.ts'
import { GenerationFields } from './generation-fields.tsx'
import { ModelFields } from './model-field.tsx'
import { NewPromptDialog } from './new-prompt-dialog.tsx'
import { PromptField } from './prompt-field.tsx'
import type { Agent } from './resource.ts'
import { ToolsField } from './tools-field.tsx'

const isEmpty = (value: string) => value.trim() === ''

/** All that is missing at once; the server names one field at a time. */
const missing = {
  name: (value: string) => (isEmpty(value) ? 'Enter a name.' : null),
  providerId: (value: string) => (isEmpty(value) ? 'Choose a provider.' : null),
  model: (value: string) => (isEmpty(value) ? 'Choose a model, or type its name.' : null),
}

interface AgentFormProps {
  initial: AgentValues
  save: (fields: ReturnType<typeof fieldsOf>) => Promise<Agent>
  onSaved: (agent: Agent) => void
  submitLabel: string
}

export function AgentForm({ initial, save, onSaved, submitLabel }: AgentFormProps) {
  const form = useForm<AgentValues>({ initialValues: initial, validate: missing })
  const [isNaming, { open, close }] = useDisclosure()
  return (
    <>
      <RecordForm form={form} save={(values) => save(fieldsOf(values))} onSaved={onSaved} submitLabel={submitLabel}>
        <TextInput label="Name" placeholder="Support" maw={420} {...form.getInputProps('name')} />
        <ModelFields form={form} />
        <PromptField
          value={form.values.promptId}
          onChange={(id) => form.setFieldValue('promptId', id)}
          error={form.errors.promptId}
          onNew={open}
        />
        <FormSection
          title="Tools"
          description="What the model may call while it answers. Each call is shown in the reply."
        >
          <ToolsField form={form} />
        </FormSection>
        <FormSection title="Generation" description="Empty fields use the provider’s defaults.">
          <GenerationFields form={form} />
        </FormSection>
      </RecordForm>
      {/* Beside the form, not in it: its own form must not submit this one. */}
      <NewPromptDialog
        opened={isNaming}
        onClose={close}
        onCreated={({ id }) => {
          form.setFieldValue('promptId', id)
          close()
        }}
      />
    </>
  )
}
