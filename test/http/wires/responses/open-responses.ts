/**
 * What Open Responses demands of a response and of its events: the fields that have to be there, and their types. In words
 * of our own, from the document of version 2026-04-24 (https://github.com/openresponses/openresponses, `openapi.json`).
 * Further fields may stand beside them. Two differences are OpenAI's own: a schema that was sent for the text is shown
 * (there it is null), and calls that wait for an approval are `mcp_approval_request` items.
 */
import Type, { type TSchema } from 'typebox'
import { Errors } from 'typebox/value'

const text = Type.String()
const whole = Type.Integer()
const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()])
const words = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)))
const status = words('in_progress', 'completed', 'incomplete')

const outputText = Type.Object({
  type: words('output_text'),
  text,
  annotations: Type.Array(Type.Object({ type: words('url_citation') })),
  logprobs: Type.Optional(Type.Array(Type.Object({ token: text, logprob: Type.Number() }))),
})
const summaryText = Type.Object({ type: words('summary_text'), text })
const part = Type.Union([outputText, summaryText])

const item = Type.Union([
  Type.Object({ type: words('message'), id: text, status, role: words('assistant'), content: Type.Array(part) }),
  Type.Object({ type: words('reasoning'), id: text, summary: Type.Array(part) }),
  Type.Object({ type: words('function_call'), id: text, call_id: text, name: text, arguments: text, status }),
  Type.Object({ type: words('mcp_approval_request'), id: text, name: text, arguments: text, server_label: text }),
])

const tool = Type.Object({
  type: words('function'),
  name: text,
  description: orNull(text),
  parameters: orNull(Type.Object({})),
  strict: orNull(Type.Boolean()),
})

const efforts = words('none', 'minimal', 'low', 'medium', 'high', 'xhigh')

const openResponse = Type.Object({
  id: text,
  object: words('response'),
  created_at: whole,
  completed_at: orNull(whole),
  status: text,
  incomplete_details: orNull(Type.Object({ reason: text })),
  model: text,
  previous_response_id: orNull(text),
  instructions: orNull(text),
  output: Type.Array(item),
  error: orNull(Type.Object({ code: text, message: text })),
  tools: Type.Array(tool),
  tool_choice: Type.Union([
    words('none', 'auto', 'required'),
    Type.Object({ type: words('function'), name: Type.Optional(text) }),
  ]),
  truncation: words('auto', 'disabled'),
  parallel_tool_calls: Type.Boolean(),
  text: Type.Object({ format: Type.Object({ type: words('text', 'json_object', 'json_schema') }) }),
  top_p: Type.Number(),
  presence_penalty: Type.Number(),
  frequency_penalty: Type.Number(),
  top_logprobs: whole,
  temperature: Type.Number(),
  reasoning: orNull(Type.Object({ effort: orNull(efforts), summary: orNull(words('concise', 'detailed', 'auto')) })),
  usage: orNull(
    Type.Object({
      input_tokens: whole,
      output_tokens: whole,
      total_tokens: whole,
      input_tokens_details: Type.Object({ cached_tokens: whole }),
      output_tokens_details: Type.Object({ reasoning_tokens: whole }),
    }),
  ),
  max_output_tokens: orNull(whole),
  max_tool_calls: orNull(whole),
  store: Type.Boolean(),
  background: Type.Boolean(),
  service_tier: text,
  metadata: Type.Record(text, text),
  safety_identifier: orNull(text),
  prompt_cache_key: orNull(text),
})

const ofItem = { item_id: text, output_index: whole }
const ofContent = { ...ofItem, content_index: whole }
const ofSummary = { ...ofItem, summary_index: whole }
const logprobs = Type.Optional(Type.Array(Type.Object({ token: text })))

const events: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  'response.created': { response: openResponse },
  'response.queued': { response: openResponse },
  'response.in_progress': { response: openResponse },
  'response.completed': { response: openResponse },
  'response.failed': { response: openResponse },
  'response.incomplete': { response: openResponse },
  'response.output_item.added': { output_index: whole, item: orNull(item) },
  'response.output_item.done': { output_index: whole, item: orNull(item) },
  'response.reasoning_summary_part.added': { ...ofSummary, part },
  'response.reasoning_summary_part.done': { ...ofSummary, part },
  'response.reasoning_summary_text.delta': { ...ofSummary, delta: text },
  'response.reasoning_summary_text.done': { ...ofSummary, text },
  'response.content_part.added': { ...ofContent, part },
  'response.content_part.done': { ...ofContent, part },
  'response.output_text.delta': { ...ofContent, delta: text, logprobs },
  'response.output_text.done': { ...ofContent, text, logprobs },
  'response.function_call_arguments.delta': { ...ofItem, delta: text },
  'response.function_call_arguments.done': { ...ofItem, arguments: text },
  error: { error: Type.Object({ type: text, code: orNull(text), message: text, param: orNull(text) }) },
}

/** Why it is none of their events; empty when it is one. */
export function eventFaults(event: { type: string }): string[] {
  const fields = events[event.type]
  if (fields === undefined) return [`${event.type}: there is no such event`]
  return faultsIn(Type.Object({ sequence_number: whole, ...fields }), event).map((fault) => `${event.type}${fault}`)
}

export const responseFaults = (response: unknown): string[] => faultsIn(openResponse, response)

const faultsIn = (schema: TSchema, value: unknown): string[] =>
  Errors(schema, value).map(({ instancePath, message }) => `${instancePath} ${message}`)
