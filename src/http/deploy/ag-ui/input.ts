/** What the server reads of AG-UI's `RunAgentInput` (contract section 12). */

import type { components } from '../../../../openapi/generated/schema.ts'
import type { DecidedCall } from '../../../actors/ports/index.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { badRequest } from '../../server/http-error.ts'
import { textOfParts } from '../sent-text.ts'

type RunAgentInput = components['schemas']['RunAgentInput']

export interface RunInput {
  sessionId: string
  /** The text of the newest user message; empty when there is none. */
  text: string
  /** Answers to interrupts, or results of the page's own tools, instead of a message. */
  decisions: readonly DecidedCall[] | null
  /** They are results, the last messages. Some may be those of the agent's tools that the page was shown. */
  asMessages: boolean
}

/** The newest user message, answers to interrupts, or the results at the end: nothing else is read. Throws 400. */
export function readRunInput({ threadId, messages, resume }: RunAgentInput): RunInput {
  if (!isUuid(threadId)) return badRequest('threadId: must be a UUID')
  const sessionId = threadId.toLowerCase()
  const decisions = readResume(resume ?? [])
  if (decisions.length > 0) return { sessionId, text: '', decisions, asMessages: false }
  const results = readResults(messages)
  const index = messages.findLastIndex((message) => 'role' in message && message.role === 'user')
  const newest: Readonly<Record<string, unknown>> = { ...messages[index] }
  if (index < 0 && results.length > 0) return { sessionId, text: '', decisions: results, asMessages: true }
  if (index < 0) return badRequest('messages: one of them must have the role user')
  const { content } = newest
  const text = typeof content === 'string' ? content : textOfParts(content, `messages.${index}.content`)
  return { sessionId, text, decisions: results.length > 0 ? results : null, asMessages: true }
}

function readResults(messages: RunAgentInput['messages']): DecidedCall[] {
  const list: readonly Readonly<Record<string, unknown>>[] = messages.map((message) => ({ ...message }))
  const first = list.findLastIndex(({ role }) => role !== 'tool') + 1
  return list.slice(first).map(({ toolCallId: id, content }, index) => {
    const where = `messages.${first + index}`
    if (typeof id !== 'string') return badRequest(`${where}.toolCallId: must be a string`)
    if (typeof content !== 'string') return badRequest(`${where}.content: must be a string`)
    return { id, decision: 'respond', output: content }
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
