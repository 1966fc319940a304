import { Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { FormSection } from '../../blocks/forms/form-section.tsx'
import { RecordForm } from '../../blocks/forms/record-form.tsx'
import { LimitsFields } from '../../limits/limits-fields.tsx'
import { UsersUse } from '../../limits/users-use.tsx'
import { type AgentValues, badJson, fieldsOf } from '../agent-values.ts'
import type { Agent } from '../resource.ts'
import { ApprovalsField } from './approvals-field.tsx'
import { FallbacksField } from './fallbacks-field.tsx'
import { GenerationFields } from './generation-fields.tsx'
import { ModelFields } from './model-field.tsx'
import { NewPromptDialog } from './new-prompt-dialog.tsx'
import { OriginsField } from './origins-field.tsx'
import { PromptField } from './prompt-field.tsx'
import { ResponseFormatField } from './response-format-field.tsx'
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
  /** Absent while it is being created. */
  agentId?: string
}

export function AgentForm({ initial, save, onSaved, submitLabel, agentId }: AgentFormProps) {
  const form = useForm<AgentValues>({ initialValues: initial, validate: { ...missing, responseFormat: badJson } })
  const [isNaming, { open, close }] = useDisclosure()
  return (
    <>
      <RecordForm form={form} save={(values) => save(fieldsOf(values))} onSaved={onSaved} submitLabel={submitLabel}>
        <TextInput label="Name" placeholder="Support" maw={420} {...form.getInputProps('name')} />
        <ModelFields form={form} />
        <FallbacksField form={form} />
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
          <ApprovalsField form={form} />
        </FormSection>
        <FormSection title="Generation" description="Empty fields use the provider’s defaults.">
          <GenerationFields form={form} />
          <ResponseFormatField form={form} />
        </FormSection>
        <FormSection title="Callers" description="Many programs send a system message of their own with each request.">
          <Switch
            label="Put system messages of a request behind this agent’s prompt"
            description="Off: such a request is refused, so that the prompt is this agent’s alone."
            checked={form.values.callerInstructions === 'append'}
            onChange={({ currentTarget }) =>
              form.setFieldValue('callerInstructions', currentTarget.checked ? 'append' : 'refuse')
            }
          />
          <Switch
            label="Go on with a reply whose instance is lost"
            description="Another instance takes it over: the model is called again, a tool that may have acted is not. Off: the reply ends with what it has."
            checked={form.values.onLoss === 'continue'}
            onChange={({ currentTarget }) => form.setFieldValue('onLoss', currentTarget.checked ? 'continue' : 'error')}
          />
        </FormSection>
        <FormSection
          title="Limits for each user"
          description="Of each user whose sessions or requests name one, over all instances. A request over a limit is refused and says when to try again. The playground is not limited. Leave empty for no limit."
        >
          <LimitsFields path="userLimits" getInputProps={form.getInputProps} />
          {agentId !== undefined && Object.values(initial.userLimits).some((limit) => limit !== '') && (
            <UsersUse agentId={agentId} />
          )}
        </FormSection>
        <FormSection
          title="Web pages"
          description="Web pages can call this agent only from the origins listed here, and only with a client secret that your backend has created. Other programs need no entry. While it is empty, no web page can."
        >
          <OriginsField {...form.getInputProps('allowedOrigins')} />
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
