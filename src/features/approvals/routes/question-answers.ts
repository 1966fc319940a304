/** Answers to servers' questions, as front ends bring them (contract section 27). */
import type { DecidedCall, ToolCall } from '../../../actors/ports/index.ts'
import { isQuestionDecision, type ServerAsked } from '../../../actors/reply/reply-event.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import type { PendingCall } from '../../../persistence/replies/reading/waiting-calls.ts'
import { parseExact, writeExact } from '../../../untrusted/exact-json.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import type { GivenDecision } from './decisions.ts'

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
      ...(schema === undefined ? { url: url ?? '' } : { schema: Object(JSON.parse(schema)) }),
    },
  }))
}

/** Returns the pending questions by their ids for front ends. */
export function questionsById(pending: readonly PendingCall[]): Map<string, PendingCall> {
  const questions = pending.filter(asks)
  return new Map(
    questions.map((one) => [shownId(one, questions.filter(({ call_id }) => call_id === one.call_id).length > 1), one]),
  )
}

/** Reads outputs of pages for calls that ask: the decision, or a list of decisions with their keys. Throws 400. */
export function outputsAsAnswers(calls: readonly GivenDecision[], pending: readonly PendingCall[]): GivenDecision[] {
  const asking = new Set(pending.filter(asks).map(({ call_id }) => call_id))
  return calls.flatMap((call) => {
    if (!asking.has(call.id) || call.decision !== 'respond') return [call]
    const given = jsonIn(call.output ?? '')
    return (Array.isArray(given) ? given : [given]).map((one: unknown) => answerIn(one, call.id))
  })
}

function jsonIn(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return null
  }
}

function answerIn(given: unknown, id: string): DecidedCall {
  const where = `output of ${JSON.stringify(id)}`
  if (!isObject(given) || typeof given.decision !== 'string' || !isQuestionDecision(given.decision))
    return badRequest(`messages: the ${where} must be {"decision": "answer", "decline" or "cancel", "content"}`)
  const { decision, content, key } = given
  if (content != null && (!isObject(content) || decision !== 'answer'))
    return badRequest(`messages: the content in the ${where} must be an object, beside answer`)
  return {
    id,
    decision,
    ...(typeof key === 'string' && { key }),
    ...(content != null && { content: writeExact(content) }),
  }
}
