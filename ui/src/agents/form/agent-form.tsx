import { Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { FormSection } from '../../blocks/forms/form-section.tsx'
import fields from '../../blocks/forms/forms.module.css'
import { RecordForm } from '../../blocks/forms/record-form.tsx'
import { LimitsFields } from '../../limits/limits-fields.tsx'
import { UsersUse } from '../../limits/users-use.tsx'
import { type AgentValues, badJson, fieldsOf } from '../agent-values.ts'
import classes from '../agents.module.css'
import type { Agent } from '../resource.ts'
import { CallersFields } from './callers-fields.tsx'
import { FallbacksField } from './fallbacks-field.tsx'
import { GenerationFields } from './generation-fields.tsx'
import { ModelFields } from './model-field.tsx'
import { NewPromptDialog } from './new-prompt-dialog.tsx'
import { OriginsField } from './origins-field.tsx'
import { PromptField } from './prompt-field.tsx'
import { ProviderDialog } from './provider-dialog.tsx'
import { ResponseFormatField } from './response-format-field.tsx'
import { SectionIndex, type SectionName, useShownSection } from './sections.tsx'
import { ApprovalsField } from './tools/approvals-field.tsx'
import { ToolsField } from './tools/tools-field.tsx'

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
  /** Another way to save, by a second button. */
  second?: { label: string; save: (fields: ReturnType<typeof fieldsOf>) => Promise<Agent> }
  /** The part over the form. `isTyped`: something in it is not saved yet. */
  bar?: (isTyped: boolean) => ReactNode
  /** Absent while it is being created. */
  agentId?: string
}

export function AgentForm({ initial, save, onSaved, submitLabel, second, bar, agentId }: AgentFormProps) {
  const form = useForm<AgentValues>({ initialValues: initial, validate: { ...missing, responseFormat: badJson } })
  const [isNaming, { open, close }] = useDisclosure()
  const [isConnecting, providerDialog] = useDisclosure()
  const { shown, show, showField } = useShownSection(form)
  const isAt = (section: SectionName) => ({ hidden: shown !== section })
  return (
    <>
      {bar?.(form.isDirty())}
      <div className={classes.sections}>
        <SectionIndex shown={shown} onShow={show} />
        <RecordForm
          form={form}
          save={(values) => save(fieldsOf(values))}
          onSaved={onSaved}
          submitLabel={submitLabel}
          isQuiet={bar !== undefined}
          second={second && { label: second.label, save: (values) => second.save(fieldsOf(values)) }}
          onWrong={showField}
        >
          <div {...isAt('general')}>
            <Stack gap="lg" className={fields.fields}>
              <TextInput label="Name" placeholder="Support" maw={420} withAsterisk {...form.getInputProps('name')} />
              <ModelFields form={form} onNewProvider={providerDialog.open} />
              <FallbacksField form={form} />
              <PromptField
                value={form.values.promptId}
                onChange={(id) => form.setFieldValue('promptId', id)}
                error={form.errors.promptId}
                onNew={open}
              />
              {form.values.promptId === null && (
                <Textarea
                  label="Prompt text of its own"
                  description="Of this agent alone, where it uses no prompt."
                  autosize
                  minRows={2}
                  maxRows={12}
                  dir="auto"
                  {...form.getInputProps('systemPrompt')}
                />
              )}
            </Stack>
          </div>
          <div {...isAt('tools')}>
            <FormSection
              title="Tools"
              description="What the model may call while it answers. Each call is shown in the reply."
            >
              <ToolsField form={form} agentId={agentId} />
              <Switch
                label="Fail when an MCP server gives no tools"
                description="The reply ends before any call. Off: it goes on without them, and the model is notified."
                checked={form.values.onMissingTools === 'fail'}
                onChange={({ currentTarget }) =>
                  form.setFieldValue('onMissingTools', currentTarget.checked ? 'fail' : 'tell')
                }
              />
              <ApprovalsField form={form} />
            </FormSection>
          </div>
          <div {...isAt('generation')}>
            <FormSection title="Generation" description="Empty fields use the provider’s defaults.">
              <GenerationFields form={form} />
              <ResponseFormatField form={form} />
            </FormSection>
          </div>
          <div {...isAt('callers')}>
            <CallersFields form={form} />
          </div>
          <div {...isAt('limits')}>
            <FormSection
              title="Limits for each user"
              description="For each user that sessions or requests name, on all servers. A request over a limit is refused and says when to try again. The playground is not limited."
            >
              <LimitsFields path="userLimits" getInputProps={form.getInputProps} />
              {agentId !== undefined && Object.values(initial.userLimits).some((limit) => limit !== '') && (
                <UsersUse agentId={agentId} />
              )}
            </FormSection>
          </div>
          <div {...isAt('pages')}>
            <FormSection
              title="Web pages"
              description="Web pages can call this agent only from the origins listed here, and only with a client secret that your backend has created. Other programs need no entry. While it is empty, no web page can."
            >
              <OriginsField {...form.getInputProps('allowedOrigins')} />
            </FormSection>
          </div>
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
        <ProviderDialog form={form} opened={isConnecting} onClose={providerDialog.close} />
      </div>
    </>
  )
}
