/** Pictures and files of messages (contract section 13). Their bytes are not here: they are read where they are sent. */
import type { MessagePart, ModelMessage, Segment, ToolResultMessage, UserMessage } from '../ports/index.ts'

/** Returns the contents of a message in the order that they were sent: texts that are not empty, and parts. */
export function segmentsOf(content: string, parts: readonly MessagePart[]): Segment[] {
  const segments: Segment[] = []
  let shown = 0
  for (const part of parts) {
    if (part.place > shown) segments.push(content.slice(shown, part.place))
    shown = Math.max(shown, part.place)
    segments.push(part)
  }
  if (shown < content.length) segments.push(content.slice(shown))
  return segments
}

/** Returns a user's message as a model is sent it. */
export const userMessage = (content: string, parts: readonly MessagePart[] = []): UserMessage =>
  parts.length === 0
    ? { role: 'user', content }
    : { role: 'user', content, segments: segmentsOf(content, parts.map(asSent)) }

/** Returns a part as models are sent it: a document is a text of the same name. */
function asSent({ text, ...part }: MessagePart): MessagePart {
  return text === undefined ? part : { ...part, mediaType: 'text/plain', ...text }
}

/** Returns a user's message with a time at its end (contract section 29). `at`: ISO 8601 UTC. */
export function withTime({ role, content, segments }: UserMessage, at: string): UserMessage {
  const mark = `[${at.slice(0, 19)}Z]`
  const marked = content === '' ? mark : `${content}\n\n${mark}`
  return segments ? { role, content: marked, segments: [...segments, mark] } : { role, content: marked }
}

/** Returns whether two messages have the same parts. */
export const sameParts = (one: readonly MessagePart[] = [], other: readonly MessagePart[] = []): boolean =>
  one.length === other.length && one.every((part, index) => identityOf(part) === identityOf(other[index]))

const identityOf = (part: MessagePart | undefined): string | undefined => part?.sourceUrl ?? part?.sha256

/** Joins two messages, the second below the first. */
export function joinUserMessages(one: UserMessage, other: UserMessage): UserMessage {
  const between = one.content === '' || other.content === '' ? '' : '\n\n'
  const content = `${one.content}${between}${other.content}`
  if (!one.segments && !other.segments) return { role: 'user', content }
  const segments = [...partsAndTexts(one), between, ...partsAndTexts(other)].filter((segment) => segment !== '')
  return { role: 'user', content, segments }
}

const partsAndTexts = ({ content, segments }: UserMessage): readonly Segment[] => segments ?? [content]

/** Returns the messages with the parts of outputs next to the results of their calls. */
export function withOutputParts(
  messages: readonly ModelMessage[],
  parts: readonly MessagePart[] = [],
): readonly ModelMessage[] {
  if (parts.length === 0) return messages
  const byCall = Map.groupBy(parts, ({ callId }) => callId)
  return messages.map((message) => {
    const own = message.role === 'tool' ? byCall.get(message.toolCallId) : undefined
    return own ? { ...message, segments: segmentsOf(message.content, own.map(asSent)) } : message
  })
}

function partsIn(message: ModelMessage): readonly MessagePart[] {
  const { segments = [] } = 'segments' in message ? message : {}
  return segments.filter((segment) => typeof segment !== 'string')
}

/** The most bytes of the parts of earlier messages together (contract section 13). */
const MAX_EARLIER_BYTES = 20 * 2 ** 20

/**
 * Limits the parts of earlier messages, which send them again, the newest first, until one does not fit; words stand in
 * place of the others. The newest message of the user, and outputs behind it, keep their own.
 */
export function withinPartLimit(messages: readonly ModelMessage[], max = MAX_EARLIER_BYTES): ModelMessage[] {
  const newest = Math.max(
    0,
    messages.findLastIndex(({ role }) => role === 'user'),
  )
  const kept = new Set<Segment>(messages.slice(newest).flatMap(partsIn))
  let left = max
  for (const part of messages.slice(0, newest).flatMap(partsIn).reverse()) {
    left -= part.size
    if (left < 0) break
    kept.add(part)
  }
  return messages.map((message) => (message.role === 'assistant' ? message : withWords(message, kept)))
}

/** Puts words in place of the parts that are not sent. */
function withWords(
  message: UserMessage | ToolResultMessage,
  kept: ReadonlySet<Segment>,
): UserMessage | ToolResultMessage {
  if (partsIn(message).every((part) => kept.has(part))) return message
  const { segments: all = [], ...rest } = message
  const segments = all.map((segment) =>
    typeof segment === 'string' || kept.has(segment) ? segment : `\n${wordsFor(segment)}\n`,
  )
  const content = segments
    .filter((segment) => typeof segment === 'string')
    .join('')
    .trim()
  return segments.every((segment) => typeof segment === 'string')
    ? { ...rest, content }
    : { ...rest, content, segments }
}

const wordsFor = ({ type, mediaType, filename }: MessagePart): string =>
  `[A ${type === 'image_url' ? 'picture' : 'file'} stood here: ${filename === null ? '' : `${filename}, `}${mediaType}]`

/** Joins messages of the same role in a row; calls and their results stand alone. */
export function joinNeighbours(messages: readonly ModelMessage[]): ModelMessage[] {
  const joined: ModelMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (last?.role === 'user' && message.role === 'user') joined[joined.length - 1] = joinUserMessages(last, message)
    else if (last && isPlainReply(last) && isPlainReply(message)) {
      joined[joined.length - 1] = { ...message, content: `${last.content}\n\n${message.content}` }
    } else joined.push(message)
  }
  return joined
}

const isPlainReply = (message: ModelMessage): boolean => message.role === 'assistant' && message.toolCalls === undefined
