/** Decisions about pending calls (contract section 15): the checks that they fit, and who may make them. */
import { isDeepStrictEqual } from 'node:util'
import type { components } from '../../../../openapi/generated/schema.ts'
import type { CallAnswer, CheckedToolbox, DecidedCall, MessagePlace } from '../../../actors/ports/index.ts'
import { refuse } from '../../../http/sending/refusals.ts'
import { badRequest, HttpError, missing } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { PendingCall } from '../../../persistence/replies/reading/waiting-calls.ts'
import { parseWith, writeExact } from '../../../untrusted/exact-json.ts'
import { findWait, type Wait } from '../store/waits.ts'

export interface GivenDecisions {
  calls: readonly DecidedCall[]
  /** The pending calls. Null when there are none. */
  wait: Wait | null
  /** True for a client secret, which may only approve a call unchanged or reject it. */
  bySecret: boolean
  /** True for messages of role `tool`, which cannot answer approvals. */
  asMessages: boolean
}

type ActionsRequest = components['schemas']['ActionsRequest']

/** Reads decisions as callers send them. Throws 400. */
export function readDecisions(decisions: ActionsRequest['decisions']): DecidedCall[] {
  return decisions.map(({ call_id: id, decision, arguments: changed, output, reason }, index) => {
    if (decision === 'respond') {
      return output == null ? badRequest(`decisions.${index}.output: is required`) : { id, decision, output }
    }
    if (decision === 'approve') return { id, decision, ...(changed != null && { arguments: writeExact(changed) }) }
    return { id, decision, ...(reason != null && { reason }) }
  })
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

/** Returns the decisions, without arguments that equal the model's own. Throws 400, 403 or 409. */
export async function fittingDecisions(
  { calls, wait, bySecret, asMessages }: GivenDecisions,
  openToolbox: () => Promise<CheckedToolbox>,
): Promise<DecidedCall[]> {
  if (wait === null || (asMessages && wait.pending.some(({ kind }) => kind === 'approval')))
    return refuse('not_waiting')
  const where = asMessages ? 'messages' : 'decisions'
  const pairs = calls.map((decided, index) => {
    const call = wait.pending.find(({ call_id }) => call_id === decided.id)
    if (call === undefined) return badRequest(`${where}: nothing waits under the id ${JSON.stringify(decided.id)}`)
    if (calls.findIndex(({ id }) => id === decided.id) < index) {
      return badRequest(`${where}: ${JSON.stringify(decided.id)} is decided twice`)
    }
    return { call, decided: withoutOwnArguments(decided, call) }
  })
  const missed = wait.pending.find(({ call_id }) => !calls.some(({ id }) => id === call_id))
  if (missed) badRequest(`${where}: ${JSON.stringify(missed.call_id)} waits too, and must be decided with the others`)
  for (const { call, decided } of pairs) refuseKind(call, decided, bySecret)
  const changed = pairs.filter(({ decided }) => decided.arguments !== undefined)
  if (changed.length > 0) {
    const toolbox = await openToolbox()
    for (const { call, decided } of changed) {
      const tool = wait.carried.chain.turn.waiting.find((waiting) => waiting?.id === decided.id)?.tool
      const reason = await toolbox.check({ name: call.name, arguments: decided.arguments ?? '', tool })
      if (reason !== null)
        badRequest(`decisions.${calls.findIndex(({ id }) => id === decided.id)}.arguments: ${reason}`)
    }
  }
  return pairs.map(({ decided }) => decided)
}

function withoutOwnArguments({ arguments: changed, ...decided }: DecidedCall, call: PendingCall): DecidedCall {
  if (changed === undefined || isDeepStrictEqual(parsed(changed), parsed(call.arguments))) return decided
  return { ...decided, arguments: changed }
}

/**
 * Parses arguments for comparison: 1.0 is 1, and no other numbers are equal. Text that is not JSON equals nothing that a
 * caller sends. Models may send empty text for no arguments.
 */
function parsed(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return parseWith(text, (_, value, { source = '' } = {}) =>
      typeof value === 'number' ? { number: decimal(source) } : value,
    )
  } catch {
    return Number.NaN
  }
}

/** Returns a number's sign, its digits without zeros at their ends, and its exponent. */
function decimal(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const all = (whole + fraction).replace(/^0+/, '')
  const short = all.replace(/0+$/, '')
  return short === '' ? '0' : `${sign}${short}e${Number(exponent) - fraction.length + all.length - short.length}`
}

function refuseKind({ call_id, kind }: PendingCall, { decision, arguments: changed }: DecidedCall, bySecret: boolean) {
  if (kind === 'caller') {
    if (decision === 'approve')
      badRequest(`decisions: ${JSON.stringify(call_id)} is the caller's own: respond or reject`)
    return
  }
  if (!bySecret || (decision !== 'respond' && changed === undefined)) return
  throw new HttpError(403, 'A client secret approves a call as it stands, or rejects it.')
}
