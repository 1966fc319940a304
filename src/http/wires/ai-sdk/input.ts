/** Reader of the requests of `DefaultChatTransport` (contract sections 12 and 15). */

import type { components } from '../../../../openapi/generated/schema.ts'
import type { DecidedCall } from '../../../actors/ports/index.ts'
import { type GivenDecision, wishOf } from '../../../features/approvals/index.ts'
import {
  gather,
  isPictureType,
  readName,
  readSource,
  type SentMessage,
  type SentPart,
  type Uploads,
} from '../../../features/parts/index.ts'
import { writeExact } from '../../../untrusted/exact-json.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { isInstruction } from '../../sending/caller-instructions.ts'
import { badRequest } from '../../server/http-error.ts'
import { checkChatId } from '../front-ends/chat-session.ts'
import { instructionsAmong, type PageInstruction } from '../front-ends/page-instructions.ts'
import type { UIPlace } from './place.ts'

type UIChatRequest = components['schemas']['UIChatRequest']

interface Sent {
  /**
   * Reads the results that the previous message holds for these calls: the page may have run them before it sent this
   * message. Absent without results. Throws 400 and 413.
   */
  readMade?: ((ids: ReadonlySet<string>) => readonly DecidedCall[]) | undefined
  instructions: readonly PageInstruction[]
  place: UIPlace
  /** The input of the hash under an `Idempotency-Key`. It contains neither the history nor message ids. */
  hashedInput: readonly unknown[]
}

/**
 * A message, a request for another reply, or decisions. `replyId` is the assistant message that holds the decisions.
 */
export type SentUIMessage = Sent &
  (
    | (SentMessage & { isRegenerate?: false; decisions?: never })
    | {
        isRegenerate: true
        decisions?: never
        /** The text of the message to answer. */
        text: string
        /** Reads the message itself, which is sent when it was never stored. Throws like `readChatRequest`. */
        readMessage(): SentMessage
      }
    | {
        isRegenerate?: never
        decisions: readonly DecidedCall[]
        /** For every approval that is decided. */
        wish: Pick<GivenDecision, 'wish'>
        replyId: string
      }
  )

/** Reads a chat request. Throws 400 and 413. */
export function readChatRequest(
  { id, messages, system, trigger, messageId = null, ...wish }: UIChatRequest,
  uploads: Uploads,
): SentUIMessage {
  checkChatId(id, 'id')
  const isRegenerate = trigger === 'regenerate-message'
  const list: readonly Readonly<Record<string, unknown>>[] = messages.map((message) => ({ ...message }))
  const ofBody = typeof system === 'string' ? [{ name: 'system', text: system, where: 'system' }] : []
  const instructions = [...ofBody, ...instructionsAmong(list)]
  const index = list.findLastIndex(({ role }) => (isRegenerate ? role === 'user' : !isInstruction(role)))
  const last = list[index]
  const where = `messages.${index}`
  const held = ['ai-sdk', trigger ?? 'submit-message', messageId]
  const place = { messages: list.slice(0, index + 1), messageId }
  if (last?.role === 'assistant' && typeof last.id === 'string') {
    const decisions = decisionsIn(last.parts, `${where}.parts`, uploads)
    const wished = wishOf(wish, 'remember')
    const hashedInput = [...held, decisions, ...(wished.wish ? [wished.wish] : [])]
    return { place, instructions, decisions, wish: wished, replyId: last.id, hashedInput }
  }
  if (last === undefined) {
    const wanted = isRegenerate ? 'there is no user message to answer' : "one must be the user's, or bring decisions"
    return badRequest(`messages: ${wanted}`)
  }
  if (!isRegenerate && last.role !== 'user') {
    return badRequest(`${where}.role: the last message must be the user's, or bring decisions`)
  }
  const readMessage = () => readParts(last.parts, `${where}.parts`, uploads)
  if (isRegenerate) {
    const text = textIn(last.parts)
    return { place, instructions, isRegenerate, text, readMessage, hashedInput: [...held, text] }
  }
  const { text, parts } = readMessage()
  const before = list.slice(0, index).findLast(({ role }) => !isInstruction(role))
  const results = before?.role === 'assistant' && Array.isArray(before.parts) ? before.parts.filter(isResult) : []
  // Results that nothing waits for are history, which is not read.
  const readMade = (ids: ReadonlySet<string>) =>
    decisionsIn(
      results.filter(({ toolCallId }) => ids.has(toolCallId)),
      where,
      uploads,
    )
  return {
    place,
    instructions,
    text,
    parts,
    ...(results.length > 0 && { readMade }),
    hashedInput: [...held, text, ...parts.map(nameOf)],
  }
}

function nameOf({ source }: SentPart): string {
  if (source.kind === 'path') return source.path
  if (source.kind === 'file') return source.id
  return source.kind === 'data' ? source.data.sha256 : source.url
}

function readParts(parts: unknown, where: string, uploads: Uploads): SentMessage {
  if (!Array.isArray(parts) || parts.length === 0) return badRequest(`${where}: must be an array of at least one part`)
  return gather(parts, uploads, (part, index) => {
    const at = `${where}.${index}`
    if (part.type === 'text' && typeof part.text === 'string') return part.text
    if (part.type !== 'file') return badRequest(`${at}: must be {"type": "text", "text": string}, or of type file`)
    const source = readSource(part.url, `${at}.url`, null, uploads)
    const isSaidPicture = typeof part.mediaType === 'string' && /^image\//i.test(part.mediaType)
    const isPicture = source.kind === 'data' ? isPictureType(source.mediaType) : isSaidPicture
    if (source.kind === 'address' && !isSaidPicture) {
      return badRequest(`${at}.url: must be a data: URL; only pictures are fetched`)
    }
    const filename = readName(part.filename, `${at}.filename`)
    return { type: isPicture ? 'image_url' : 'file', source, filename, detail: null, where: `${at}.url` }
  })
}

const isResult = (part: unknown): part is Record<string, unknown> & { toolCallId: string } =>
  isObject(part) &&
  typeof part.toolCallId === 'string' &&
  (part.state === 'output-available' || part.state === 'output-error')

/** Reads the decisions in the parts of an assistant message, including those for calls that no longer wait. */
function decisionsIn(parts: unknown, where: string, uploads: Uploads): DecidedCall[] {
  const textOf = (output: unknown): string =>
    uploads.restored(typeof output === 'string' ? output : (writeExact(output) ?? ''))
  if (!Array.isArray(parts)) return badRequest(`${where}: must be an array`)
  return parts.flatMap((part: unknown): DecidedCall[] => {
    if (!isObject(part) || typeof part.toolCallId !== 'string') return []
    const { toolCallId: id, state, approval, output, errorText } = part
    if (state === 'approval-responded' && isObject(approval)) {
      const reason = typeof approval.reason === 'string' ? { reason: approval.reason } : {}
      return [approval.approved === true ? { id, decision: 'approve' } : { id, decision: 'reject', ...reason }]
    }
    if (state === 'output-available') return [{ id, decision: 'respond', output: textOf(output) }]
    return state === 'output-error' ? [{ id, decision: 'respond', output: textOf(errorText) }] : []
  })
}

/** Returns the joined texts of a message's parts, which identify a stored message. */
function textIn(parts: unknown): string {
  if (!Array.isArray(parts)) return ''
  return parts.map((part: unknown) => (isText(part) ? part.text : '')).join('')
}

const isText = (part: unknown): part is { text: string } =>
  typeof part === 'object' &&
  part !== null &&
  'type' in part &&
  part.type === 'text' &&
  'text' in part &&
  typeof part.text === 'string'
