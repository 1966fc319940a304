/**
 * How many tokens a request takes, about. What the provider reports corrects the estimate (`correctionOf`). Pure.
 */
import { tokensOf } from '../../untrusted/text-tokens.ts'
import type { MessagePart, ModelMessage, SentBefore, ToolSpec } from '../ports/index.ts'

/** Vendors count 250 to 1,600 for a picture, 1,500 to 3,000 for a page of a PDF, which has 50 KB at least. */
const PICTURE = 1000
const PAGE = 2000
const PAGE_BYTES = 50_000

function tokensOfPart({ type, mediaType, size }: MessagePart): number {
  if (type === 'image_url') return PICTURE
  return mediaType === 'application/pdf' ? PAGE * Math.ceil(size / PAGE_BYTES) : Math.ceil(size / 4)
}

/** Role and separators of a message, an id of a call. */
const MESSAGE = 4
const CALL = 10

/** Estimates the tokens of a message as it is sent, with parts, calls and their results. */
export function tokensOfMessage(message: ModelMessage): number {
  const text = MESSAGE + tokensOf(message.content)
  if (message.role !== 'assistant') {
    const parts = (message.segments ?? []).filter((segment) => typeof segment !== 'string')
    const of = message.role === 'tool' ? [...parts, ...(message.pictures ?? [])] : parts
    return of.reduce((sum, part) => sum + tokensOfPart(part), message.role === 'tool' ? text + CALL : text)
  }
  const calls = message.toolCalls ?? []
  return calls.reduce((sum, call) => sum + CALL + tokensOf(call.name) + tokensOf(call.arguments), text)
}

export const tokensOfAll = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + tokensOfMessage(message), 0)

export const tokensOfTools = (tools: readonly ToolSpec[]): number =>
  tools.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + CALL + tokensOf(`${name}${description}${JSON.stringify(inputSchema)}`),
    0,
  )

/**
 * A report below this share is of something else: of what a server has cut in silence, or of what it did not find cached.
 */
const CREDIBLE = 0.3

/** Returns the factor for estimates after a call: between a half and three. */
export function correctionOf(call: Pick<SentBefore, 'estimated' | 'reported'> | null): number {
  if (call === null || call.reported === null || call.estimated === 0) return 1
  const ratio = call.reported / call.estimated
  return ratio < CREDIBLE ? 1 : Math.min(3, Math.max(0.5, ratio))
}
