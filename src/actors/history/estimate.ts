/**
 * How many tokens a request takes, about. Tokenizers differ by vendor, and a real one costs 100 times as much: texts are
 * estimated by their characters, and what the provider reports corrects the estimate (`correctionOf`). Pure.
 */
import type { MessagePart, ModelMessage, SentBefore, ToolSpec } from '../ports/index.ts'

const OTHER = 0
const LETTER = 1
const DIGIT = 2
const SIGN = 3
const BLANK = 4
const NEWLINE = 5

/** The kind of each character code: one look-up instead of five comparisons. */
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122)) return LETTER
  if (code >= 48 && code <= 57) return DIGIT
  if (code === 10) return NEWLINE
  return code <= 32 ? BLANK : SIGN
})

/**
 * Estimates the tokens of a run of one kind. Tokenizers take a word, three digits, a few signs or an indentation as
 * one, and the blank before a word with it. Measured against o200k: within 15 % for English, code, JSON and CSV.
 */
function tokensOfRun(kind: number, length: number): number {
  switch (kind) {
    case LETTER:
      if (length <= 7) return 1
      return length <= 16 ? 1 + (length - 7) / 10 : length / 4
    case DIGIT:
      return Math.ceil(length / 3)
    case SIGN:
      return length <= 3 ? 1 : length / 3
    case BLANK:
      return length === 1 ? 0.1 : 1
    default:
      return kind === NEWLINE ? 0.7 : 0
  }
}

/**
 * Estimates the tokens of a character that is not ASCII. Chinese and its like have about one a character; letters with
 * accents and other alphabets share one.
 */
const tokensOfOther = (code: number): number => (code >= 0x2e80 ? 0.85 : 0.28)

function estimate(text: string, from: number, to: number): number {
  let sum = 0
  let kind = OTHER
  let length = 0
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    const next = code < 128 ? (kinds[code] ?? OTHER) : OTHER
    if (next === OTHER) sum += tokensOfOther(code)
    if (next === kind) length += 1
    else {
      sum += tokensOfRun(kind, length)
      kind = next
      length = 1
    }
  }
  return sum + tokensOfRun(kind, length)
}

/** A longer text is estimated from 32 windows of it: 400 KB of a history would take 4 ms of each reply. */
const LONG = 16_384
const WINDOWS = 32
const WINDOW = 256

export function tokensOf(text: string): number {
  if (text.length <= LONG) return Math.ceil(estimate(text, 0, text.length))
  let sum = 0
  for (let n = 0; n < WINDOWS; n++) {
    const from = Math.floor((n * (text.length - WINDOW)) / (WINDOWS - 1))
    sum += estimate(text, from, from + WINDOW)
  }
  return Math.ceil((sum * text.length) / (WINDOWS * WINDOW))
}

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
