/**
 * Frames of a reply → what goes over the wire (specification 2.12 and 6.1, contract sections 3 and 5). Pure. Each
 * numbered frame of a session is encoded once for its readers at the live end, as bytes that they share.
 */
import type { ReplyInfo } from '../actors/ports.ts'
import type { FinishReason, Frame, ReplyError, Usage } from '../actors/reply-event.ts'

/** What a chunk says of its completion, whichever frame it is. */
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

/** On the wire a cancelled reply has stopped (contract section 3). */
export const wireReason = (reason: FinishReason): 'stop' | 'length' | 'content_filter' =>
  reason === 'cancelled' ? 'stop' : reason

export const wireUsage = ({ promptTokens, completionTokens }: Usage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
})

export const wireError = ({ message, code }: ReplyError) => ({
  error: { message, type: 'server_error', code, param: null },
})

/** The one JSON object of `stream: false` (specification 2.11). */
export const completionBody = (head: CompletionHead, content: string, reason: FinishReason, usage: Usage) => ({
  id: head.id,
  object: 'chat.completion' as const,
  created: head.created,
  model: head.model,
  choices: [{ index: 0, message: { role: 'assistant' as const, content }, finish_reason: wireReason(reason) }],
  usage: wireUsage(usage),
})

/** Encodes frames of one completion. */
export interface FrameEncoder {
  /** The text of a numbered frame's `data:` line. Null for tool events and states. */
  data(frame: Frame): string | null
}

export function createFrameEncoder(head: CompletionHead): FrameEncoder {
  // Everything but the delta is the same in each chunk: only the delta goes through JSON.stringify per token.
  const start = JSON.stringify({ ...head, object: 'chat.completion.chunk' }).slice(0, -1)
  const chunk = (delta: string, reason: string) =>
    `${start},"choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}`
  return {
    data(frame) {
      switch (frame.type) {
        case 'started':
          return chunk('{"role":"assistant"}', 'null')
        case 'text':
          return chunk(`{"content":${JSON.stringify(frame.text)}}`, 'null')
        case 'finished':
          return chunk('{}', `"${wireReason(frame.reason)}"`)
        case 'usage':
          return `${start},"choices":[],"usage":${JSON.stringify(wireUsage(frame.usage))}}`
        case 'done':
          return '[DONE]'
        case 'failed':
          return JSON.stringify(wireError(frame.error))
        default:
          return null
      }
    },
  }
}

/** A frame of a stateless stream: no `id:` line. Empty for tool events. */
export function statelessFrame(encoder: FrameEncoder, frame: Frame): string {
  const data = encoder.data(frame)
  return data === null ? '' : `data: ${data}\n\n`
}

/** A numbered frame of a session stream, with its id. Null for the playground's own events. */
export function sessionFrame(encoder: FrameEncoder, frame: Frame): Buffer | null {
  if (frame.wire) return frame.wire
  const data = encoder.data(frame)
  if (data === null) return null
  frame.wire = Buffer.from(`id: ${frame.seq}\ndata: ${data}\n\n`)
  return frame.wire
}

/** The playground's frames: the session's own, and named events that take no number. */
export function playgroundFrame(encoder: FrameEncoder, frame: Frame): Buffer | null {
  const data = playgroundEvent(frame)
  return data === null
    ? sessionFrame(encoder, frame)
    : Buffer.from(`event: ${frame.type}\ndata: ${JSON.stringify(data)}\n\n`)
}

function playgroundEvent(frame: Frame): object | null {
  switch (frame.type) {
    case 'tool_call':
      return { id: frame.id, name: frame.name, arguments: frame.arguments }
    case 'tool_result':
      return { id: frame.id, ok: frame.ok, content: frame.content, durationMs: frame.durationMs }
    case 'state':
      return { state: frame.state, at: frame.at }
    default:
      return null
  }
}
