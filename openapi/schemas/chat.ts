/** The chat-completions wire format, and messages of deploy sessions. Names are in snake case, as in that format. */
import Type from 'typebox'
import { documented } from '../documented.ts'
import { count, id, nullable, oneOf, time } from './basics.ts'
import { answerFields } from './completion-fields.ts'

const ContentPart = Type.Object(
  { type: Type.String({ description: '`text`; anything else is 400.' }), text: Type.Optional(Type.String()) },
  { title: 'ContentPart' },
)
export const ChatMessage = Type.Object(
  {
    role: Type.String({
      description: '`user` or `assistant`. `system`, `developer` and any other: 400.',
      ...documented({ enum: ['user', 'assistant'] }),
    }),
    content: Type.Unsafe({
      type: ['string', 'array'],
      items: ContentPart,
      description: 'Text, or an array of `{type: "text", text}` parts, which are joined.',
    }),
  },
  { title: 'ChatMessage' },
)
const requestFields = {
  messages: Type.Array(ChatMessage, { minItems: 1 }),
  stream: Type.Optional(
    nullable(Type.Boolean({ description: 'True: the response is an event stream. Absent: false.' })),
  ),
  stream_options: Type.Optional(
    Type.Unsafe({
      ...Type.Object({ include_usage: Type.Optional(nullable(Type.Boolean())) }),
      type: ['object', 'null'],
      description: '`include_usage` adds a chunk with `usage` and no choices before `[DONE]`.',
    }),
  ),
  model: Type.Optional(Type.Unsafe({ description: "Not looked at: the agent's model answers." })),
  ...answerFields,
  include_reasoning: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          "True: the model's reasoning comes too, as `delta.reasoning_content` in frames of their own before the text they belong to; without streaming as `message.reasoning_content`. Of a session's reply the request that starts it decides, for all who read it.",
      }),
    ),
  ),
}
export const ChatCompletionRequest = Type.Object(requestFields, {
  title: 'ChatCompletionRequest',
  description:
    'Other fields that clients send are accepted and not used; the header `x-greenroom-ignored` of the answer names them.',
})
export const SessionCompletionRequest = Type.Object(
  {
    ...requestFields,
    on_busy: Type.Optional(
      oneOf(
        ['reject', 'interrupt'],
        'While a reply runs: `reject` (default) answers 409, `interrupt` cancels it first.',
      ),
    ),
  },
  {
    title: 'SessionCompletionRequest',
    description:
      'Only the last of `messages` is used, and its role must be `user`. Other fields are accepted and not used; the header `x-greenroom-ignored` of the answer names them.',
  },
)

const Usage = Type.Object(
  {
    prompt_tokens: count('Tokens read.'),
    completion_tokens: count('Tokens written.'),
    total_tokens: count('Their sum.'),
  },
  { title: 'Usage', description: 'As reported by the provider; otherwise estimated by a tokenizer.' },
)
const finishReason = (description: string) => oneOf(['stop', 'length', 'content_filter'], description)
const completionId = Type.String({ description: '`chatcmpl-` and the id of the message; the same in every chunk.' })
const created = Type.Integer({ description: 'Unix seconds.' })
const model = Type.String({
  description: "The agent's model, or the fallback's that answers: each chunk names the model of its own turn.",
})
export const ChatCompletion = Type.Object(
  {
    id: completionId,
    object: oneOf(['chat.completion'], 'Kind of object.'),
    created,
    model,
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({
          role: oneOf(['assistant'], 'The author.'),
          content: Type.String(),
          reasoning_content: Type.Optional(
            Type.String({ description: 'What the model thought. Absent where it was not asked for, or none came.' }),
          ),
        }),
        finish_reason: finishReason('`stop` at a normal end and after a cancel.'),
      }),
    ),
    usage: Usage,
  },
  { title: 'ChatCompletion' },
)
export const ChatCompletionChunk = Type.Object(
  {
    id: completionId,
    object: oneOf(['chat.completion.chunk'], 'Kind of object.'),
    created,
    model,
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        delta: Type.Object({
          role: Type.Optional(oneOf(['assistant'], 'In the first chunk only.')),
          content: Type.Optional(Type.String({ description: 'The next part of the text.' })),
          reasoning_content: Type.Optional(
            Type.String({ description: 'A piece of the reasoning, in a frame of its own. See `include_reasoning`.' }),
          ),
        }),
        finish_reason: nullable(finishReason('Null until the last content chunk.')),
      }),
    ),
    usage: Type.Optional(Usage),
  },
  {
    title: 'ChatCompletionChunk',
    description:
      'The `data:` of a frame. First the role, then text, then an empty delta with `finish_reason`, then `[DONE]`.',
  },
)
export const StreamError = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: oneOf(['server_error'], 'Kind of error.'),
      code: oneOf(
        [
          'provider_error',
          'provider_timeout',
          'provider_auth',
          'provider_rate_limited',
          'instance_lost',
          'shutdown',
          'session_deleted',
          'internal',
        ],
        'Why the reply failed.',
      ),
      param: Type.Null(),
    }),
  },
  { title: 'StreamError', description: 'The last frame of a failed stream, without `[DONE]` after it.' },
)

/** The events of every reply stream. */
export const completionEvents = [ChatCompletionChunk, StreamError]

export const messageStatuses = ['complete', 'streaming', 'error'] as const
export const finishReasons = ['stop', 'length', 'content_filter', 'cancelled', 'error'] as const
export const DeployMessage = Type.Object(
  {
    id: id('Id of the message.'),
    session_id: id('Id of its session.'),
    role: oneOf(['user', 'assistant'], 'The author.'),
    content: Type.String({ description: 'Partial while `streaming`; the text before the failure on `error`.' }),
    status: oneOf(messageStatuses, 'A cancelled reply is `complete`.'),
    finish_reason: nullable(oneOf(finishReasons, 'Why a reply ended. Null while streaming, and for user messages.')),
    reasoning: Type.Optional(
      Type.String({ description: 'What the model thought. Absent where it was not asked for, or none came.' }),
    ),
    created_at: time('When the message was stored.'),
  },
  { title: 'DeployMessage' },
)
export const DeployMessages = Type.Object({ messages: Type.Array(DeployMessage) }, { title: 'DeployMessages' })
