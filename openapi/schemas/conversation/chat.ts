/** The chat-completions wire format, and messages of deploy sessions. Names are in snake case, as in that format. */

import Type from 'typebox'
import { documented } from '../../documented.ts'
import { count, nullable, oneOf } from '../basics.ts'
import { askedVersion } from '../records/drafts.ts'
import { actionsRequest, callerToolFields, WireToolCall } from './actions.ts'
import { deployPlace } from './branches.ts'
import { answerFields } from './completion-fields.ts'
import { onBusy } from './queue.ts'

export const ContentPart = Type.Object(
  {
    type: Type.String({
      description: '`text`, or in user messages `image_url` or `file`.',
      ...documented({ enum: ['text', 'image_url', 'file'] }),
    }),
    text: Type.Optional(Type.String()),
    image_url: Type.Optional(
      Type.Unsafe<{ url: string; detail?: 'auto' | 'low' | 'high' }>({
        description:
          'A picture: PNG, JPEG, WebP or GIF as a `data:` URL in base64, or at an `https:` address, from which it is fetched once; or the `url` of an earlier message’s part.',
        ...documented({
          type: 'object',
          required: ['url'],
          properties: { url: { type: 'string' }, detail: { type: 'string', enum: ['auto', 'low', 'high'] } },
        }),
      }),
    ),
    file: Type.Optional(
      Type.Unsafe<{ file_data?: string; file_id?: string; filename?: string }>({
        description:
          'A file: PDF, Word, Excel, plain text, Markdown or CSV as a `data:` URL in base64, the `url` of an earlier message’s part, or the `file_id` of an uploaded file.',
        ...documented({
          type: 'object',
          properties: { file_data: { type: 'string' }, file_id: { type: 'string' }, filename: { type: 'string' } },
        }),
      }),
    ),
  },
  { title: 'ContentPart' },
)
export const ChatMessage = Type.Object(
  {
    role: Type.String({
      description:
        '`user` or `assistant`; `tool` for the result of a call of the `tools` that were brought. `system`, `developer` and any other: 400.',
      ...documented({ enum: ['user', 'assistant', 'tool'] }),
    }),
    content: Type.Optional(
      Type.Unsafe({
        type: ['string', 'array', 'null'],
        items: ContentPart,
        description:
          'Text, or an array of parts: texts, which are joined, and in user messages pictures and files between them. A message holds up to 20 parts and 20 MiB of decoded bytes (413). Only a message with `tool_calls` may have none.',
      }),
    ),
    tool_calls: Type.Optional(
      Type.Unsafe({
        description: 'Of an assistant: the calls that the messages of role `tool` behind it answer, all of them.',
        ...documented({ type: ['array', 'null'], items: WireToolCall }),
      }),
    ),
    tool_call_id: Type.Optional(
      Type.Unsafe({ description: 'Of a result: its call.', ...documented({ type: ['string', 'null'] }) }),
    ),
  },
  { title: 'ChatMessage' },
)
const answerForm = {
  stream: Type.Optional(
    nullable(Type.Boolean({ description: 'When true, the response is an event stream. False by default.' })),
  ),
  stream_options: Type.Optional(
    Type.Unsafe({
      ...Type.Object({ include_usage: Type.Optional(nullable(Type.Boolean())) }),
      type: ['object', 'null'],
      description: '`include_usage` adds a chunk with `usage` and no choices before `[DONE]`.',
    }),
  ),
  include_reasoning: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          "When true, the model's reasoning comes too, as `delta.reasoning_content` in frames of their own before the text they belong to; without streaming as `message.reasoning_content`. Of a session's reply the request that starts it decides, for all who read it.",
      }),
    ),
  ),
}
const besideMessages = { ...answerForm, ...answerFields, ...callerToolFields }
const requestFields = {
  messages: Type.Array(ChatMessage, { minItems: 1 }),
  agent_version: askedVersion,
  model: Type.Optional(Type.Unsafe({ description: "Not looked at: the agent's model answers." })),
  ...besideMessages,
}
export const ActionsRequest = actionsRequest(besideMessages)
export const ChatCompletionRequest = Type.Object(requestFields, {
  title: 'ChatCompletionRequest',
  description:
    'Other fields that clients send are accepted and not used; the header `x-greenroom-ignored` of the answer names them.',
})
/** The `messages` of a session's request. The handler checks them, unless another reply is requested. */
export const SentMessages = Type.Object({ messages: requestFields.messages })
export const SessionCompletionRequest = Type.Object(
  {
    ...requestFields,
    messages: Type.Optional(
      Type.Unsafe({
        description: 'Required, unless `regenerate` is true: then they are not looked at.',
        ...documented({ ...requestFields.messages }),
      }),
    ),
    ...deployPlace,
    on_busy: Type.Optional(onBusy('reject')),
  },
  {
    title: 'SessionCompletionRequest',
    description:
      'Only the last of `messages` is used, and its role must be `user`; or the last ones, of the role `tool`, which answer the pending calls of the `tools` that were brought. Other fields are accepted and not used; the header `x-greenroom-ignored` of the answer names them.',
  },
)

export const Usage = Type.Object(
  {
    prompt_tokens: count('Tokens read.'),
    completion_tokens: count('Tokens written.'),
    total_tokens: count('Their sum.'),
    prompt_tokens_details: Type.Optional(
      Type.Object({ cached_tokens: count('Of `prompt_tokens`: read from the provider’s cache.') }),
    ),
    completion_tokens_details: Type.Optional(
      Type.Object({ reasoning_tokens: count('Of `completion_tokens`: spent on reasoning.') }),
    ),
  },
  { title: 'Usage', description: 'As reported by the provider; otherwise estimated by a tokenizer.' },
)
const finishReason = (description: string) => oneOf(['stop', 'length', 'content_filter', 'tool_calls'], description)
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
          tool_calls: Type.Optional(
            Type.Array(WireToolCall, { description: 'Calls that wait for the reader. Absent when there are none.' }),
          ),
        }),
        finish_reason: finishReason(
          '`stop` at a normal end and after a cancel; `tool_calls` where calls wait and are shown.',
        ),
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
          tool_calls: Type.Optional(
            Type.Array(Type.Object({ index: Type.Integer(), ...WireToolCall.properties }), {
              description: 'Calls that wait for the reader, in one frame before the last chunk.',
            }),
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
export const replyErrorCodes = [
  'provider_error',
  'provider_timeout',
  'provider_auth',
  'provider_rate_limited',
  'context_length_exceeded',
  'tools_unavailable',
  'instance_lost',
  'shutdown',
  'session_deleted',
  'dequeued',
  'internal',
] as const
export const StreamError = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: oneOf(['server_error'], 'Kind of error.'),
      code: oneOf(replyErrorCodes, 'Why the reply failed.'),
      param: Type.Null(),
    }),
  },
  { title: 'StreamError', description: 'The last frame of a failed stream, without `[DONE]` after it.' },
)

export const ReplyFailure = Type.Object(
  {
    code: oneOf(replyErrorCodes, 'Why the reply failed.'),
    message: Type.String({ description: 'The words of its error chunk.' }),
  },
  { title: 'ReplyFailure', description: 'Of messages with the status `error` alone.' },
)

/** The events of every reply stream. */
export const completionEvents = [ChatCompletionChunk, StreamError]

/**
 * The fields of operations that follow the newest reply of a session from any frame. Without a reply they answer 204.
 */
export const resumedStream = {
  headers: { 'Last-Event-ID': 'The last id received. Absent or 0: from the beginning. Not a whole number: 400.' },
  streams: 'only',
  events: completionEvents,
  responses: { 200: null, 204: null },
} as const
