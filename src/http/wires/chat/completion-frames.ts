/**
 * Frames of a reply → what goes over the wire (specification 2.12 and 6.1, contract sections 3 and 5). Pure. Each
 * numbered frame of a session is encoded once for its readers at the live end, as bytes that they share.
 */
import type { ReplyInfo } from '../../../actors/ports/index.ts'
import {
  type FinishReason,
  type Frame,
  kindOf,
  type ReplyError,
  type ReplyEvent,
  type ShownCall,
  type Usage,
  wireReason,
} from '../../../actors/reply/reply-event.ts'
import { childOf } from '../../../features/children/index.ts'

/** The fields that every chunk of a completion carries. */
export interface CompletionHead {
  id: string
  /** Unix seconds. */
  created: number
  model: string
}

export const completionHead = (info: Pick<ReplyInfo, 'id' | 'createdAt' | 'model'>): CompletionHead => ({
  id: `chatcmpl-${info.id}`,
  created: Math.floor(Date.parse(info.createdAt) / 1000),
  model: info.model,
})

export const wireUsage = ({ promptTokens, completionTokens, cachedTokens, reasoningTokens }: Usage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
  ...(cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
})

const wireError = ({ message, code }: ReplyError) => ({
  error: { message, type: 'server_error', code, param: null },
})

const wireCall = ({ id, name, arguments: text }: ShownCall) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: text },
})

/** Returns the one JSON object of `stream: false` (specification 2.11). */
export const completionBody = (
  head: CompletionHead,
  { content, reasoning, calls = [] }: { content: string; reasoning: string; calls?: readonly ShownCall[] },
  reason: FinishReason,
  usage: Usage,
) => ({
  id: head.id,
  object: 'chat.completion' as const,
  created: head.created,
  model: head.model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant' as const,
        content,
        ...(reasoning !== '' && { reasoning_content: reasoning }),
        ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
      },
      finish_reason: wireReason(reason, calls.length > 0),
    },
  ],
  usage: wireUsage(usage),
})

/** An encoder of the frames of one completion, in their order: a chunk names the model of its own turn. */
export interface FrameEncoder {
  /** Returns the text of a numbered frame's `data:` line. Null for the playground's own events. */
  data(frame: Frame): string | null
}

export function createFrameEncoder(head: CompletionHead): FrameEncoder {
  // Everything but the delta is the same in each chunk: only the delta goes through JSON.stringify per token.
  const startOf = (model: string) => JSON.stringify({ ...head, model, object: 'chat.completion.chunk' }).slice(0, -1)
  let start = startOf(head.model)
  const chunk = (delta: string, reason: string) =>
    `${start},"choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}`
  const textChunk = (text: string) => chunk(`{"content":${JSON.stringify(text)}}`, 'null')
  const reasoningChunk = (text: string) => chunk(`{"reasoning_content":${JSON.stringify(text)}}`, 'null')
  const callsChunk = (calls: readonly ShownCall[]) =>
    chunk(JSON.stringify({ tool_calls: calls.map((call, index) => ({ index, ...wireCall(call) })) }), 'null')
  const eventData = (event: ReplyEvent): string | null => {
    switch (event.type) {
      case 'text':
        return textChunk(event.text)
      case 'reasoning':
        return reasoningChunk(event.text)
      case 'tool_call':
      case 'tool_begun':
      case 'tool_asked':
      case 'tool_result':
      case 'tool_unknown':
        return null
      case 'model':
        start = startOf(event.model)
        return null
    }
  }
  return {
    data(frame) {
      switch (frame.type) {
        case 'started':
          return chunk('{"role":"assistant"}', 'null')
        case 'text':
          return textChunk(frame.text)
        case 'reasoning':
          return reasoningChunk(frame.text)
        case 'stored':
          return eventData(frame.stored.event)
        case 'calls':
          return callsChunk(frame.calls)
        case 'finished':
          return chunk('{}', `"${wireReason(frame.reason, frame.showsCalls)}"`)
        case 'usage':
          return `${start},"choices":[],"usage":${JSON.stringify(wireUsage(frame.usage))}}`
        case 'done':
          return '[DONE]'
        case 'failed':
          return JSON.stringify(wireError(frame.error))
        case 'state':
          return null
      }
    },
  }
}

/** Returns the error chunk of a reply that never began: it takes no number. */
export const errorChunk = (error: ReplyError): string => `data: ${JSON.stringify(wireError(error))}\n\n`

/** Returns a frame of a stateless stream: no `id:` line. Empty for tool events. */
export function statelessFrame(encoder: FrameEncoder, frame: Frame): string {
  const data = encoder.data(frame)
  return data === null ? '' : `data: ${data}\n\n`
}

/** Returns a numbered frame of a session stream, with its id. Empty for the playground's own events. */
export function sessionFrame(encoder: FrameEncoder, frame: Frame): string {
  if (frame.wire) return frame.wire
  const data = encoder.data(frame)
  if (data === null) return ''
  frame.wire = `id: ${frame.seq}\ndata: ${data}\n\n`
  return frame.wire
}

/** Returns the playground's frames: the session's own, and named events that take no number. */
export function playgroundFrame(encoder: FrameEncoder, frame: Frame): string {
  const data = playgroundEvent(frame)
  if (data === null) return sessionFrame(encoder, frame)
  const kind = kindOf(frame)
  // A call of an unknown outcome has a result without content.
  return `event: ${kind === 'tool_unknown' ? 'tool_result' : kind}\ndata: ${JSON.stringify(data)}\n\n`
}

function playgroundEvent(frame: Frame): object | null {
  if (frame.type === 'state') return { state: frame.state, at: frame.at }
  return frame.type === 'stored' ? namedEvent(frame.stored.event) : null
}

/** Returns the data of a named event. Null when a chunk shows it. */
function namedEvent(event: ReplyEvent): object | null {
  switch (event.type) {
    case 'text':
    case 'model':
    case 'reasoning':
    case 'tool_begun':
    case 'tool_asked':
      return null
    case 'tool_call': {
      const child = childOf(event)
      return {
        id: event.id,
        name: event.name,
        arguments: event.arguments,
        ...(event.by && { decisionId: event.by.id }),
        ...(child && { child }),
      }
    }
    case 'tool_result':
      return { id: event.id, ok: event.ok, content: event.content, durationMs: event.durationMs }
    case 'tool_unknown':
      return { id: event.id, ok: null, content: null, durationMs: null }
  }
}
