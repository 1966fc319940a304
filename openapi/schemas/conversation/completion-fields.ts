/**
 * Fields of a completion request that change the answer (contract section 13). The document says what they hold; null,
 * false and empty arrays count as absent, so a handler checks them (src/http/sending/answer-fields.ts).
 */
import Type, { type TSchema } from 'typebox'
import { documented } from '../../documented.ts'
import { oneOf } from '../basics.ts'

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export const responseFormats = ['text', 'json_object', 'json_schema'] as const

/** The most of them, as in the chat-completions format. */
export const MAX_STOPS = 4

const checked = (description: string, keywords: Readonly<Record<string, unknown>>): TSchema =>
  Type.Optional(Type.Unsafe({ description, ...documented(keywords) }))

/** `{type: "json_schema", json_schema: {name, schema}}`, or another type alone. */
export const responseFormatKeywords = {
  type: ['object', 'null'],
  required: ['type'],
  properties: {
    type: oneOf(responseFormats, '`json_schema` takes `json_schema`.'),
    json_schema: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$', examples: ['invoice'] },
        description: { type: 'string' },
        schema: { type: 'object', additionalProperties: true, description: 'A JSON Schema.' },
        strict: { type: 'boolean' },
      },
    },
  },
}

/** Sent on to providers that take them; 400 that names field and provider by others. */
const passedFields = {
  max_tokens: checked('Most tokens of the answer. `max_completion_tokens` wins.', {
    type: ['integer', 'null'],
    minimum: 1,
  }),
  max_completion_tokens: checked('Most tokens of the answer, reasoning included.', {
    type: ['integer', 'null'],
    minimum: 1,
  }),
  stop: checked('Where the answer ends: a text, or up to four.', {
    type: ['string', 'array', 'null'],
    items: { type: 'string', minLength: 1 },
    maxItems: MAX_STOPS,
  }),
  seed: checked('The same seed, about the same answer.', { type: ['integer', 'null'] }),
  response_format: checked("Form of the answer. The agent's `responseFormat` by default.", responseFormatKeywords),
  reasoning_effort: checked('How long the model may think.', { enum: [...reasoningEfforts, null] }),
  parallel_tool_calls: checked('When false, one tool call at a time.', { type: ['boolean', 'null'] }),
}

const refused = (value: string) => checked(`${value} is 400: it cannot be honoured here.`, {})

/** Refused, unless they ask for nothing. */
const refusedFields = {
  n: refused('More than 1'),
  logprobs: refused('True'),
  audio: refused('Any value'),
  modalities: refused('More than `text`'),
  prediction: refused('Any value'),
  functions: refused('Any value'),
}

export const answerFields = { ...passedFields, ...refusedFields }
