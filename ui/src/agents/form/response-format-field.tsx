import { JsonInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { parseExact } from '../../../../src/untrusted/exact-json.ts'
import type { AgentValues } from '../agent-values.ts'

const example = `{
  "type": "json_schema",
  "json_schema": { "name": "answer", "strict": true, "schema": { "type": "object" } }
}`

/** The form of the agent's answers, as JSON. */
export function ResponseFormatField({ form }: { form: UseFormReturnType<AgentValues> }) {
  return (
    <JsonInput
      label="Response format"
      description="For requests that set none: response_format as in the chat-completions format. Leave empty for plain text."
      placeholder={example}
      autosize
      minRows={4}
      maxRows={20}
      formatOnBlur
      deserialize={parseExact}
      validationError="Must be JSON."
      spellCheck={false}
      {...form.getInputProps('responseFormat')}
    />
  )
}
