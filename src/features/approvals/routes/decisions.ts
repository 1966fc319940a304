/** Decisions about pending calls (contract sections 15 and 29), as their surfaces bring them. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { Decision } from '../../../../openapi/schemas/conversation/actions.ts'
import type { CallAnswer, DecidedCall, MessagePlace, PartIdentity } from '../../../actors/ports/index.ts'
import { type PendingKind, type QuestionDecision, questionDecisions } from '../../../actors/reply/reply-event.ts'
import { badRequest, missing } from '../../../http/server/http-error.ts'
import { refuseUnknownFields } from '../../../http/server/unknown-fields/unknown-fields.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { writeExact } from '../../../untrusted/exact-json.ts'
import type { Caller } from '../../users/index.ts'
import { findWait, type Wait } from '../store/waits.ts'

/** Returns whether it is an answer to a server's question. */
export const isQuestionDecision = (decision: string): decision is QuestionDecision =>
  questionDecisions.some((one) => one === decision)

/** A decision as it was sent, with the wish that it is remembered. */
export interface GivenDecision extends DecidedCall {
  wish?: {
    scope?: 'session' | 'user'
    names?: readonly string[] /** The path of `remember` in the request. */
    at: string
  }
}

export interface GivenDecisions {
  calls: readonly GivenDecision[]
  /** The pictures and files of their outputs. Absent when they bring none. */
  parts?: readonly PartIdentity[] | undefined
  /** The pending calls. Null when there are none. */
  wait: Wait | null
  /** True for a client secret, which may only approve a call unchanged or reject it. */
  bySecret: boolean
  /** The only session that a client secret opens. Absent: it is not bound to one. */
  isBound?: boolean
  /** Decides whether the caller may have a decision remembered for this agent. Absent: for every one. */
  remembersFor?: (agentId: string) => boolean
  /** True for messages of role `tool`: errors name those. */
  asMessages: boolean
  /** True for `…/actions`, which may leave other calls undecided. */
  inPart: boolean
  /** The kinds that the surface can decide. */
  decides: readonly PendingKind[]
  /** True where the surface decides nothing of sessions below. */
  isOwnAlone?: boolean
}

/** Returns who decides. */
export const deciderOf = (caller: Caller): Pick<GivenDecisions, 'bySecret' | 'isBound' | 'remembersFor'> => ({
  bySecret: caller.kind === 'secret',
  isBound: caller.kind === 'secret' && caller.sessionId !== null,
  ...(caller.kind === 'key' && caller.named && { remembersFor: opensFor(caller.named) }),
})

const opensFor =
  ({ agentIds }: { agentIds: readonly string[] | null }) =>
  (agentId: string): boolean =>
    agentIds === null || agentIds.includes(agentId)

type ActionsRequest = components['schemas']['ActionsRequest']
type Sent = ActionsRequest['decisions'][number]

/** Reads decisions as callers send them. Throws 400, also for an unknown field. */
export function readDecisions(decisions: ActionsRequest['decisions']): GivenDecision[] {
  return decisions.map((given, index) => {
    refuseUnknownFields(Decision, given, `decisions.${index}.`)
    const { call_id: id, decision, arguments: changed, output, reason, key, content } = given
    const { remember, remember_arguments: names } = given
    if (isQuestionDecision(decision)) {
      for (const [name, value] of Object.entries({ remember, remember_arguments: names }))
        if (value != null) return badRequest(`decisions.${index}.${name}: is only taken with approve and reject`)
      if (content != null && decision !== 'answer')
        return badRequest(`decisions.${index}.content: is only taken with answer`)
      const answered = content != null && { content: writeExact(content) }
      return { id, decision, ...(key != null && { key }), ...answered }
    }
    if (content != null) return badRequest(`decisions.${index}.content: is only taken with answer`)
    if (key != null) return badRequest(`decisions.${index}.key: is only taken with answer, decline and cancel`)
    const wish = wishOf(given, `decisions.${index}.remember`)
    if (decision === 'respond') {
      return output == null ? badRequest(`decisions.${index}.output: is required`) : { id, decision, output, ...wish }
    }
    if (decision === 'approve')
      return { id, decision, ...(changed != null && { arguments: writeExact(changed) }), ...wish }
    return { id, decision, ...(reason != null && { reason }), ...wish }
  })
}

/** Returns the wish that these fields make. Empty: none. `at`: the path of `remember`. */
export function wishOf(
  { remember, remember_arguments: names }: Pick<Sent, 'remember' | 'remember_arguments'>,
  at: string,
): Pick<GivenDecision, 'wish'> {
  if (remember == null && names == null) return {}
  return { wish: { at, ...(remember != null && { scope: remember }), ...(names != null && { names }) } }
}

/** Returns the decisions with the pending calls. Throws 404 for a session that is not the user's. */
export async function decisionsIn(
  sql: Sql,
  session: Parameters<typeof findWait>[1],
  given: Omit<GivenDecisions, 'wait'>,
): Promise<GivenDecisions> {
  const { found, wait } = await findWait(sql, session)
  return found ? { ...given, wait } : missing('session')
}

/**
 * Returns the pending calls of the caller that a message at this place comes after. At other places their ids mean
 * other calls.
 */
export function awaitedAt(place: MessagePlace | undefined, wait: Wait | null): ReadonlySet<string> {
  const isBehind = place === undefined || ('parent' in place && place.parent === wait?.replyId)
  const awaited = isBehind ? (wait?.pending ?? []).filter(({ kind }) => kind === 'caller') : []
  return new Set(awaited.map(({ call_id }) => call_id))
}

/** Returns the sent results of calls that are awaited. They are stored with the message that follows them. */
export const answersAmong = (sent: readonly DecidedCall[], awaited: ReadonlySet<string>): CallAnswer[] =>
  sent.flatMap(({ id, decision, output }) =>
    awaited.has(id) && decision === 'respond' && output !== undefined ? [{ id, output }] : [],
  )
