/** Reader of AG-UI's `RunAgentInput` (contract section 12). */

import type { components } from '../../../../openapi/generated/schema.ts'
import { rememberScopes } from '../../../../openapi/schemas/conversation/actions.ts'
import { whenBusy } from '../../../../openapi/schemas/conversation/queue.ts'
import type { DecidedCall } from '../../../actors/ports/index.ts'
import { type GivenDecision, questionsById, wishOf } from '../../../features/approvals/index.ts'
import type { PendingCall } from '../../../features/sessions/index.ts'
import { writeExact } from '../../../untrusted/exact-json.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { noRetry } from '../../sending/refusals.ts'
import { chatIdFault } from '../../server/fields/external-id.ts'
import { badRequest, HttpError } from '../../server/http-error.ts'
import { checkChatId } from '../front-ends/chat-session.ts'
import { repliesIn } from '../front-ends/listed-messages.ts'
import { instructionsAmong, type PageInstruction } from '../front-ends/page-instructions.ts'

type RunAgentInput = components['schemas']['RunAgentInput']

/** The maximum number of earlier replies that are looked up. One that the session has is enough. */
const MOST_REPLIES = 20

interface NamedMessage {
  id: string
  /** The newest ids of stored replies before the message, oldest first. */
  replies: readonly string[]
}

export interface RunInput {
  /** The text of the newest user message, or an empty string without one. */
  text: string
  /** The results of the page's own tools, in place of a message. */
  decisions: readonly DecidedCall[] | null
  /** The answers to interrupts, in place of a message. Absent without any. */
  resume?: readonly ResumeEntry[]
  /**
   * True for decisions that are trailing tool results. These may include results of the agent's tools that the page was
   * shown.
   */
  asMessages: boolean
  /** The results directly before the newest user message. */
  made: readonly DecidedCall[]
  /** The newest user message by the page's id. Absent for decisions, and for a message without a usable id. */
  named?: NamedMessage
  instructions: readonly PageInstruction[]
}

/**
 * Reads the newest user message, the answers to interrupts, or the trailing results. Of the other messages it reads ids
 * and instructions. Throws 400.
 */
export function readRunInput({ threadId, messages, resume }: RunAgentInput): RunInput {
  checkChatId(threadId, 'threadId')
  const list: readonly Readonly<Record<string, unknown>>[] = messages.map((message) => ({ ...message }))
  const instructions = instructionsAmong(list)
  const answers = readResume(resume ?? [])
  if (answers.length > 0)
    return { text: '', decisions: null, resume: answers, asMessages: false, made: [], instructions }
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

/** Returns the result of a page's tool. A failed tool may have sent only its error. */
const outputOf = (content: string, error: unknown): string =>
  content === '' && typeof error === 'string' ? error : content

/** Reads the trailing results of a list. Malformed ones are skipped: they may be history, which is not validated. */
function resultsAtEnd(list: readonly Readonly<Record<string, unknown>>[]): DecidedCall[] {
  const first = list.findLastIndex(({ role }) => role !== 'tool') + 1
  return list.slice(first).flatMap(({ toolCallId: id, content, error }): DecidedCall[] => {
    const isResult = typeof id === 'string' && typeof content === 'string'
    return isResult ? [{ id, decision: 'respond', output: outputOf(content, error) }] : []
  })
}

/** An answer to an interrupt, whose meaning depends on what is pending. */
export interface ResumeEntry {
  id: string
  isResolved: boolean
  payload: unknown
}

function readResume(entries: unknown): ResumeEntry[] {
  if (!Array.isArray(entries)) return badRequest('resume: must be an array')
  return entries.map((entry: unknown, index): ResumeEntry => {
    const where = `resume.${index}`
    if (!isObject(entry)) return badRequest(`${where}: must be an object`)
    const { interruptId: id, status, payload } = entry
    if (typeof id !== 'string') return badRequest(`${where}.interruptId: must be a string`)
    if (status !== 'resolved' && status !== 'cancelled')
      return badRequest(`${where}.status: must be one of "resolved", "cancelled"`)
    return { id, isResolved: status === 'resolved', payload }
  })
}

/**
 * Reads answers to interrupts as decisions about what is pending. A finished sign-in is resolved already: it is passed
 * over. Throws 400.
 */
export function resumeDecisions(
  entries: readonly ResumeEntry[],
  pending: readonly PendingCall[],
  signedIn: Pick<ReadonlyMap<string, unknown>, 'has'>,
): GivenDecision[] {
  const questions = questionsById(pending)
  return entries.flatMap(({ id, isResolved, payload }, index): GivenDecision | GivenDecision[] => {
    if (isResolved && signedIn.has(id)) return []
    const question = questions.get(id)
    if (question?.kind === 'sign_in') return signInDecision({ id: question.call_id, isResolved, payload })
    if (question) return questionDecision(question, { id, isResolved, payload }, `resume.${index}`)
    if (!isResolved) return { id, decision: 'reject' }
    if (!isObject(payload) || typeof payload.approved !== 'boolean')
      return badRequest(`resume.${index}.payload.approved: must be true or false`)
    const wish = readWish(payload, `resume.${index}.payload.remember`)
    if (payload.approved) return { id, decision: 'approve', ...wish }
    return { id, decision: 'reject', ...(typeof payload.reason === 'string' && { reason: payload.reason }), ...wish }
  })
}

/** Reads the wish that a decision is remembered. `at`: the path of `remember`. Throws 400. */
function readWish({ remember, remember_arguments: names }: Record<string, unknown>, at: string) {
  const scope = rememberScopes.find((word) => word === remember) ?? null
  if (remember != null && scope === null) return badRequest(`${at}: must be "session" or "user"`)
  if (names == null) return wishOf({ remember: scope }, at)
  const isList = Array.isArray(names) && names.length >= 1 && names.length <= 20
  if (!isList || !names.every((name) => typeof name === 'string') || new Set(names).size < names.length)
    return badRequest(`${at}_arguments: must be a list of 1 to 20 different names`)
  return wishOf({ remember: scope, remember_arguments: names }, at)
}

/** Reads the answer to a sign-in, which nothing but the sign-in itself resolves. Throws 409. */
function signInDecision({ id, isResolved }: ResumeEntry): DecidedCall {
  if (isResolved) throw new HttpError(409, 'The user has not signed in yet.', noRetry)
  return { id, decision: 'decline' }
}

function questionDecision(
  { call_id: id, key, schema }: PendingCall,
  { isResolved, payload }: ResumeEntry,
  where: string,
): DecidedCall {
  const meant = { id, ...(key !== undefined && { key }) }
  if (!isResolved) return { ...meant, decision: 'cancel' }
  if (payload != null && !isObject(payload)) return badRequest(`${where}.payload: must be an object`)
  if (schema) return { ...meant, decision: 'answer', content: writeExact(payload ?? {}) }
  if (payload != null && Object.keys(payload).length > 0)
    return badRequest(`${where}.payload: must be empty, since the question is no form`)
  return { ...meant, decision: 'answer' }
}

/** Reads the fields that Greenroom adds to AG-UI's own, under the names of completion requests. Throws 400. */
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

/** Joins text parts. Throws 400 without parts, and for a part that is not text. `where` names the field. */
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
