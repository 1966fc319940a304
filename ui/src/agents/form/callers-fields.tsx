/** The settings of callers: which fields they may send, and what becomes of their replies when an instance is lost. */
import { Select, Switch } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { FormSection } from '../../blocks/forms/form-section.tsx'
import type { AgentValues } from '../agent-values.ts'

const choices: { value: AgentValues['callerInstructions']; label: string }[] = [
  { value: 'responses', label: 'Append on the Responses API, refuse elsewhere' },
  { value: 'append', label: 'Append' },
  { value: 'refuse', label: 'Refuse' },
]

export const CallersFields = ({ form }: { form: UseFormReturnType<AgentValues> }) => (
  <FormSection title="Requests" description="Many programs send a system message of their own with each request.">
    <Select
      label="Instructions and system messages of a request"
      description="Put behind this agent’s prompt, or refused, so that the prompt is this agent’s alone."
      data={choices}
      allowDeselect={false}
      {...form.getInputProps('callerInstructions')}
    />
    <Switch
      label="Resume replies after a server crash"
      description="Another server takes them over: the model is called again, a tool that may have acted is not. Off: the reply ends with what it has."
      checked={form.values.onLoss === 'continue'}
      onChange={({ currentTarget }) => form.setFieldValue('onLoss', currentTarget.checked ? 'continue' : 'error')}
    />
  </FormSection>
)
