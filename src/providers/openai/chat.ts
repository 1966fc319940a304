/** The chat-completions adapter: one turn as a stream of events, and a model request in that format. */

import { createHash } from 'node:crypto'
import type OpenAI from 'openai'
import type {
  MessagePart,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ProviderConnection,
  Take,
  UserMessage,
} from '../../actors/ports/index.ts'
import { wireFields } from '../answer-fields.ts'
import { type Dialect, endpointOf, wireApiOf } from '../provider-types.ts'
import { idWithin, withUniqueCallIds } from '../request/call-ids.ts'
import type { ProviderFetch } from '../request/fetch.ts'
import { callWithout, type RefusedFields } from '../request/optional-fields.ts'
import { bytesOf, segmentsFor, textOf, withToolPictures } from '../request/outgoing-parts.ts'
import { postTurn } from '../request/provider-call.ts'
import { chatToolChoice } from '../tool-choice.ts'
import { createRemembered } from '../wire/remembered.ts'
import { readingThinkTags } from '../wire/think-tags.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { type ChatEcho, type ChatReasoning, echoes, HELD } from './chat-reasoning.ts'
import {
  type ChatBody,
  type ChatMessage,
  isAboutTools,
  optional,
  toolOf,
  withAnsweredResults,
  withReasoning,
} from './chat-refusals.ts'
import { readTurn, type TurnOptions } from './chat-turn.ts'
import { openAiApi } from './openai-api.ts'
import { refusesSampling } from './openai-models.ts'
import { type ResponsesBody, streamResponses } from './responses.ts'

/** Creates the adapter, with the cache that calls share. Turns reject with ProviderProblem. */
export function createOpenAi(fetch: ProviderFetch) {
  const refusals: RefusedFields = createRemembered()
  return {
    stream(request: ModelRequest, dialect: Dialect, signal: AbortSignal, take: Take<ModelEvent>): Promise<void> {
      const connection = placeOf(request, dialect)
      if (wireApiOf(request.provider) === 'responses') {
        const send = (body: ResponsesBody, own: AbortSignal) =>
          postTurn(fetch, request, openAiApi(connection, '/responses'), body, own)
        return streamResponses(send, request, refusals, signal, take)
      }
      const send = (body: ChatBody, own: AbortSignal) =>
        postTurn(fetch, request, openAiApi(connection, '/chat/completions'), body, own)
      return streamTurn(
        readingThinkTags(readTurn(turnOptions(request, dialect)), request.reasoning),
        (own) => callWithout(request, chatBody(request, dialect), optional, refusals, (body) => send(body, own)),
        signal,
        take,
      )
    },
  }
}

/** Returns the connection to use. DeepSeek accepts the beginning of an answer at its beta API only. */
function placeOf({ provider, messages }: ModelRequest, { beginning }: Dialect): ProviderConnection {
  const last = messages.at(-1)
  if (beginning !== 'beta' || last?.role !== 'assistant' || last.isBeginning !== true) return provider
  const baseUrl = endpointOf(provider)?.replace(/(?:\/v1)?$/, '/beta') ?? null
  return { ...provider, baseUrl }
}

function turnOptions(request: ModelRequest, { reasoningBack }: Dialect): TurnOptions {
  const { reasoning } = request
  const goesBack = reasoningBack === 'asked' && !reasoning ? 'held' : 'sent'
  return {
    reasoning,
    reasoningBack: reasoningBack === 'never' ? null : goesBack,
    keepEcho: (back, held) => echoes.keep(request, back, held),
  }
}

/**
 * Builds a request's body. The generate loop handles `maxToolCalls`; without tools the field is left out, since `[]` is
 * refused by many.
 */
export function chatBody(request: ModelRequest, dialect: Dialect): ChatBody {
  const { provider, model, system, messages, config, tools } = request
  const { parallel_tool_calls, ...fields } = wireFields(request)
  const choice = chatToolChoice(request)
  const samples = !refusesSampling(model)
  const echoOf = ({ echo }: { echo?: object }) => (echo && echoes.of(echo, request)) ?? null
  const heldOf = ({ echo }: { echo?: object }) => (echo && echoes.heldOf(echo, request)) ?? null
  // Fields that are sent back may name their calls (OpenRouter's details of Gemini do): they keep the ids that the
  // vendor gave.
  const named = withUniqueCallIds(
    withToolPictures(provider.type, messages),
    dialect.shortCallIds ? shortId : sameId,
    (answer) => echoOf(answer) !== null,
  )
  const body: ChatBody = {
    model,
    stream: true,
    messages: cacheMarked(request, [
      ...(system ? [{ role: 'system', content: system } as const] : []),
      ...named.map((message) =>
        wireMessage(message, { type: provider.type, echoOf, heldOf, isMarked: dialect.beginning !== null }),
      ),
    ]),
    ...(dialect.usageOption && { stream_options: { include_usage: true } }),
    ...(samples && config.temperature !== undefined && { temperature: config.temperature }),
    ...(samples && config.topP !== undefined && { top_p: config.topP }),
    ...(samples && config.topK !== undefined && dialect.topK && { top_k: config.topK }),
    ...(tools.length > 0 && {
      tools: tools.map(toolOf),
      ...(choice !== undefined && { tool_choice: choice }),
      // `tool_choice` is refused without tools.
      ...(typeof parallel_tool_calls === 'boolean' && { parallel_tool_calls }),
    }),
    ...fields,
  }
  if (dialect.answersResults) return withAnsweredResults(body)
  return dialect.reasoningBack === 'required' && isAboutTools(body) ? withReasoning(body) : body
}

/** Marks the prompt, and all up to the newest user message, for Claude's cache, through OpenRouter too. */
function cacheMarked({ provider, model }: ModelRequest, messages: ChatMessage[]): ChatMessage[] {
  if (provider.type !== 'openrouter' || !/claude/.test(model)) return messages
  const newest = messages.findLastIndex(({ role }) => role === 'user')
  return messages.map((message, index) => {
    const isMarked = message.role === 'system' || (message.role === 'user' && index === newest)
    if (!isMarked) return message
    const parts: ContentPart[] =
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : [...message.content]
    const last = parts.findLastIndex(({ type }) => type === 'text')
    const content = parts.map((part, at) => (at === last ? { ...part, cache_control: { type: 'ephemeral' } } : part))
    return Object.assign({ ...message }, { content })
  })
}

/** The longest id of a call that OpenAI accepts. */
const MAX_CALL_ID = 40

interface WireOptions {
  /** The provider's dialect. */
  type: string
  echoOf(answer: { echo?: object }): ChatEcho | null
  heldOf(answer: { echo?: object }): ChatReasoning | null
  /** True when the beginning of the answer is marked. */
  isMarked: boolean
}

type ContentPart = OpenAI.Chat.ChatCompletionContentPart

const contentParts = (type: string, message: UserMessage): ContentPart[] =>
  segmentsFor(type, message).map((segment) =>
    typeof segment === 'string' ? { type: 'text', text: segment } : filePart(segment),
  )

/** Writes a part. The format has no text files, so they are sent as text. */
function filePart(part: MessagePart): ContentPart {
  const { mediaType, filename, detail } = part
  if (mediaType.startsWith('text/')) {
    const name = filename === null ? mediaType : `${filename} (${mediaType})`
    return { type: 'text', text: `The file ${name}:\n\n${textOf(part)}` }
  }
  const url = `data:${mediaType};base64,${bytesOf(part)}`
  if (part.type === 'image_url') return { type: 'image_url', image_url: { url, ...(detail !== null && { detail }) } }
  return { type: 'file', file: { filename: filename ?? 'file.pdf', file_data: url } }
}

function wireMessage(message: ModelMessage, { type, echoOf, heldOf, isMarked }: WireOptions): ChatMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.segments ? contentParts(type, message) : message.content }
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
    case 'assistant': {
      if (!message.toolCalls?.length) {
        const { content } = message
        return { role: 'assistant', content, ...(message.isBeginning && isMarked && { prefix: true as const }) }
      }
      const { extras = [], ...reasoning } = echoOf(message) ?? {}
      const held = heldOf(message)
      return {
        role: 'assistant',
        content: message.content || null, // as the vendors themselves send it
        ...reasoning,
        ...(held && { [HELD]: held }),
        tool_calls: message.toolCalls.map(({ id, name, arguments: text }, index) => ({
          id,
          type: 'function',
          function: { name, arguments: text },
          ...(extras[index] && { extra_content: extras[index] }),
        })),
      }
    }
  }
}

const sameId = (id: string): string => idWithin(MAX_CALL_ID, id)

/**
 * Makes a call id of nine letters and digits, the only ones that Mistral accepts. A session may hold calls of another
 * vendor. Same id, same result.
 */
const shortId = (id: string): string =>
  /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)
