/** Answers to servers' questions, as front ends bring them (contract section 27). */
import type { DecidedCall, ToolCall } from '../../../actors/ports/index.ts'
import type { QuestionDecision, ServerAsked } from '../../../actors/reply/reply-event.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import { parseExact, writeExact } from '../../../untrusted/exact-json.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import type { PendingCall } from '../../sessions/index.ts'
import { type GivenDecision, isQuestionDecision } from './decisions.ts'

/** Returns the id under which a front end knows a pending call, or its question where the call asks several. */
const shownId = ({ call_id, key }: Pick<PendingCall, 'call_id' | 'key'>, isOneOfMany: boolean): string =>
  isOneOfMany && key !== undefined ? `${call_id}:${key}` : call_id

const asks = ({ kind }: PendingCall): boolean => kind === 'input' || kind === 'sign_in'

/** Returns the questions of a call as entries of `pending`, with the ids that front ends know them by. */
export function shownQuestions(
  { id: call_id, name, arguments: text }: ToolCall,
  { server, questions }: ServerAsked,
): { id: string; entry: PendingCall }[] {
  return questions.map(({ key, message, schema, url, signIn }) => ({
    id: shownId({ call_id, key }, questions.length > 1),
    entry: {
      ...{ call_id, name, arguments: text, kind: signIn ? ('sign_in' as const) : ('input' as const), server },
      ...(!signIn && { key }),
      message,
      ...(schema === undefined ? { url: url ?? '' } : { schema: Object(parseExact(schema)) }),
    },
  }))
}

/** Returns entries of `pending` with the ids that front ends know them by. */
export const shownEntries = (entries: readonly PendingCall[]): { id: string; entry: PendingCall }[] =>
  entries.map((entry) => ({
    id: shownId(entry, entries.filter(({ call_id }) => call_id === entry.call_id).length > 1),
    entry,
  }))

/** Returns the pending questions by their ids for front ends. */
export const questionsById = (pending: readonly PendingCall[]): Map<string, PendingCall> =>
  new Map(shownEntries(pending.filter(asks)).map(({ id, entry }) => [id, entry]))

/** Returns the session's own call that leads to what a session below asks. Undefined for an entry of its own. */
export const ownCallOf = ({ path }: PendingCall): string | undefined => path?.[0]?.call_id

/**
 * Reads what a page says of calls as decisions: outputs of calls that ask, and what it says of a call for the sessions below
 * that ask. `wish`: for every approval that it decides. Throws 400.
 */
export function pageDecisions(
  calls: readonly GivenDecision[],
  pending: readonly PendingCall[],
  wish: Pick<GivenDecision, 'wish'>,
): GivenDecision[] {
  const asking = new Set(pending.filter(asks).map(({ call_id }) => call_id))
  const wished = (call: GivenDecision) => (isApproval(call) ? { ...call, ...wish } : call)
  return calls.flatMap((call): GivenDecision[] => {
    const below = pending.filter((entry) => ownCallOf(entry) === call.id)
    if (below.length > 0 && call.decision === 'respond') return outputsIn(call, below).map(wished)
    if (below.length > 0) return approvalsOf(call, below, wish).map(wished)
    if (asking.has(call.id) && call.decision === 'respond') return outputsIn(call, null)
    return [wished(call)]
  })
}

const isApproval = ({ decision }: DecidedCall): boolean => decision === 'approve' || decision === 'reject'

/** Returns the approval of a call as one of each that the sessions below it wait for. */
function approvalsOf(
  call: GivenDecision,
  below: readonly PendingCall[],
  { wish }: Pick<GivenDecision, 'wish'>,
): GivenDecision[] {
  const name = JSON.stringify(call.id)
  if (!below.every(({ kind }) => kind === 'approval'))
    return badRequest(`messages: ${name} is answered by an output, a list of decisions with call_id`)
  if (wish && below.length > 1)
    return badRequest(`${wish.at}: the answer of ${name} decides several calls, of which none can be remembered`)
  return below.map(({ call_id: id }) => ({ ...call, id }))
}

/** Reads an output: a decision, or a list of decisions. `below`: entries of sessions below, which they name by `call_id`. */
function outputsIn(call: DecidedCall, below: readonly PendingCall[] | null): DecidedCall[] {
  const given = jsonIn(call.output ?? '')
  return (Array.isArray(given) ? given : [given]).map((one: unknown) => {
    if (below === null) return answerIn(one, { id: call.id, where: call.id, decides: isQuestionDecision })
    const named = isObject(one) ? one.call_id : undefined
    const entry = below.find(({ call_id }) => call_id === named)
    if (entry === undefined)
      return badRequest(`messages: the output of ${JSON.stringify(call.id)} must name by call_id what waits below it`)
    return answerIn(one, { id: entry.call_id, where: call.id, decides: isPageDecision })
  })
}

function jsonIn(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return null
  }
}

type PageDecision = QuestionDecision | 'approve' | 'reject'

const isPageDecision = (word: string): word is PageDecision =>
  word === 'approve' || word === 'reject' || isQuestionDecision(word)

function answerIn(
  given: unknown,
  { id, where: call, decides }: { id: string; where: string; decides(word: string): word is PageDecision },
): DecidedCall {
  const where = `output of ${JSON.stringify(call)}`
  if (!isObject(given) || typeof given.decision !== 'string' || !decides(given.decision))
    return badRequest(`messages: the ${where} must be {"decision": "answer", "decline" or "cancel", "content"}`)
  const { decision, content, key, reason } = given
  if (content != null && (!isObject(content) || decision !== 'answer'))
    return badRequest(`messages: the content in the ${where} must be an object, beside answer`)
  return {
    id,
    decision,
    ...(typeof key === 'string' && { key }),
    ...(content != null && { content: writeExact(content) }),
    ...(decision === 'reject' && typeof reason === 'string' && { reason }),
  }
}
