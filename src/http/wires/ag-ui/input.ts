/** What the server reads of AG-UI's `RunAgentInput` (contract section 12). */

import type { components } from '../../../../openapi/generated/schema.ts'
import { whenBusy } from '../../../../openapi/schemas/conversation/queue.ts'
import type { DecidedCall } from '../../../actors/ports/index.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { chatIdFault } from '../../sending/external-id.ts'
import { badRequest } from '../../server/http-error.ts'
import { checkChatId } from '../front-ends/chat-session.ts'
import { repliesIn } from '../front-ends/listed-messages.ts'
import { instructionsAmong, type PageInstruction } from '../front-ends/page-instructions.ts'

type RunAgentInput = components['schemas']['RunAgentInput']

/** How many of the replies before a message are looked up. One that the session has is enough. */
const MOST_REPLIES = 20

interface NamedMessage {
  id: string
  /** The newest ids of ours that stand before it, oldest first. */
  replies: readonly string[]
}

export interface RunInput {
  /** The text of the newest user message. Empty when there is none. */
  text: string
  /** Answers to interrupts, or results of the page's own tools, instead of a message. */
  decisions: readonly DecidedCall[] | null
  /** They are results, the last messages. Some may be those of the agent's tools that the page was shown. */
  asMessages: boolean
  /** Results right before the newest user message. */
  made: readonly DecidedCall[]
  /** How the page names the newest user message. Absent where decisions come instead, and when it gives no usable id. */
  named?: NamedMessage
  instructions: readonly PageInstruction[]
}

/** The newest user message, answers to interrupts, or the results at the end; of the others ids and instructions. Throws 400. */
export function readRunInput({ threadId, messages, resume }: RunAgentInput): RunInput {
  checkChatId(threadId, 'threadId')
  const list: readonly Readonly<Record<string, unknown>>[] = messages.map((message) => ({ ...message }))
  const instructions = instructionsAmong(list)
  const decisions = readResume(resume ?? [])
  if (decisions.length > 0) return { text: '', decisions, asMessages: false, made: [], instructions }
  const results = readResults(list)
  const index = list.findLastIndex(({ role }) => role === 'user')
  const asResults = { decisions: results, asMessages: true, made: [], instructions }
  if (index < 0 && results.length > 0) return { text: '', ...asResults }
  if (index < 0) return badRequest('messages: one of them must have the role user')
  const content = list[index]?.content
  const text = typeof content === 'string' ? content : textOfParts(content, `messages.${index}.content`)
  if (results.length > 0) return { text, ...asResults }
  const made = resultsAtEnd(list.slice(0, index))
  const id = list[index]?.id
  const isUsable = typeof id === 'string' && chatIdFault(id) === null
  const named = isUsable && { named: { id, replies: repliesIn(list.slice(0, index)).slice(-MOST_REPLIES) } }
  return { text, decisions: null, asMessages: true, made, instructions, ...named }
}

function readResults(list: readonly Readonly<Record<string, unknown>>[]): DecidedCall[] {
  const first = list.findLastIndex(({ role }) => role !== 'tool') + 1
  return list.slice(first).map(({ toolCallId: id, content, error }, index) => {
    const where = `messages.${first + index}`
    if (typeof id !== 'string') return badRequest(`${where}.toolCallId: must be a string`)
    if (typeof content !== 'string') return badRequest(`${where}.content: must be a string`)
    return { id, decision: 'respond', output: outputOf(content, error) }
  })
}

/** A tool of the page that failed may have said nothing but why. */
const outputOf = (content: string, error: unknown): string =>
  content === '' && typeof error === 'string' ? error : content

/** The results that the list ends with. Malformed ones are left out, not refused: they may be history, which is not read. */
function resultsAtEnd(list: readonly Readonly<Record<string, unknown>>[]): DecidedCall[] {
  const first = list.findLastIndex(({ role }) => role !== 'tool') + 1
  return list.slice(first).flatMap(({ toolCallId: id, content, error }): DecidedCall[] => {
    const isResult = typeof id === 'string' && typeof content === 'string'
    return isResult ? [{ id, decision: 'respond', output: outputOf(content, error) }] : []
  })
}

function readResume(entries: unknown): DecidedCall[] {
  if (!Array.isArray(entries)) return badRequest('resume: must be an array')
  return entries.map((entry: unknown, index): DecidedCall => {
    const where = `resume.${index}`
    if (!isObject(entry)) return badRequest(`${where}: must be an object`)
    const { interruptId: id, status, payload } = entry
    if (typeof id !== 'string') return badRequest(`${where}.interruptId: must be a string`)
    if (status === 'cancelled') return { id, decision: 'reject' }
    if (status !== 'resolved') return badRequest(`${where}.status: must be one of "resolved", "cancelled"`)
    if (!isObject(payload) || typeof payload.approved !== 'boolean') {
      return badRequest(`${where}.payload.approved: must be true or false`)
    }
    if (payload.approved) return { id, decision: 'approve' }
    return { id, decision: 'reject', ...(typeof payload.reason === 'string' && { reason: payload.reason }) }
  })
}

/** What the page says beside AG-UI's own fields, as completions do. Throws 400. */
export function readForwarded(forwarded: unknown): { user: string | null; onBusy: (typeof whenBusy)[number] } {
  if (!isObject(forwarded)) return { user: null, onBusy: 'interrupt' }
  const { user = null, on_busy: given = 'interrupt' } = forwarded
  if (user !== null && (typeof user !== 'string' || user === '' || [...user].length > 200)) {
    return badRequest('forwardedProps.user: must have 1 to 200 characters')
  }
  const words = whenBusy.map((word) => JSON.stringify(word)).join(', ')
  const onBusy = whenBusy.find((word) => word === (given ?? 'interrupt'))
  return { user, onBusy: onBusy ?? badRequest(`forwardedProps.on_busy: must be one of ${words}`) }
}

/** Text parts, joined. Throws 400 when there is none, and for a part that is no text. `where` names the field. */
function textOfParts(parts: unknown, where: string): string {
  if (!Array.isArray(parts) || parts.length === 0) return badRequest(`${where}: must be an array of at least one part`)
  return parts
    .map((part: unknown, index) => {
      const isText = isObject(part) && part.type === 'text' && typeof part.text === 'string'
      if (!isText)
        return badRequest(`${where}.${index}: only parts of the form {"type": "text", "text": string} are supported`)
      return part.text
    })
    .join('')
}
