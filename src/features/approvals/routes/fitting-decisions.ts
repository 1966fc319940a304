/** The checks that decisions fit what is pending, and that whoever makes them may (contract sections 15 and 29). */
import { isDeepStrictEqual } from 'node:util'
import type { CheckedToolbox, DecidedCall } from '../../../actors/ports/index.ts'
import type { PendingKind } from '../../../actors/reply/reply-event.ts'
import { noRetry, refuse } from '../../../http/sending/refusals.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import { isSameJson } from '../../../untrusted/json/equal-json.ts'
import type { PendingCall } from '../../sessions/index.ts'
import type { Wait } from '../store/waits.ts'
import { type GivenDecision, type GivenDecisions, isQuestionDecision } from './decisions.ts'
import { rememberedOf } from './remembering.ts'

/** The key of a sign-in among a call's questions. A server's question has one that may be the same: it asks at another time. */
export const SIGN_IN_KEY = 'sign_in'

/** A decision about a pending call. `where`: its place in the request. */
export interface Decision {
  call: PendingCall
  decided: GivenDecision
  where: string
  bySecret: boolean
}

/** The checks of decisions, by the kind of call: each throws 400 for a decision that the kind does not take, and 403. */
const checks = {
  approval({ call, decided: { decision, arguments: changed }, bySecret }) {
    if (isQuestionDecision(decision)) return notAsked(call)
    if (!bySecret || (decision !== 'respond' && changed === undefined)) return
    throw new HttpError(403, 'A client secret approves a call as it stands, or rejects it.')
  },
  caller({ call, decided }) {
    if (isQuestionDecision(decided.decision)) return notAsked(call)
    if (decided.decision !== 'approve') return
    badRequest(`decisions: ${JSON.stringify(call.call_id)} is the caller's own: respond or reject`)
  },
  input({ call, decided, where }) {
    const { decision, content } = decided
    if (!isQuestionDecision(decision))
      badRequest(`decisions: ${JSON.stringify(call.call_id)} waits for answer, decline or cancel`)
    if (decision !== 'answer') return
    if (call.schema && content === undefined) badRequest(`${where}.content: is required`)
    if (!call.schema && content !== undefined) badRequest(`${where}.content: the question is no form`)
  },
  sign_in({ call, decided: { decision } }) {
    if (decision !== 'decline') badRequest(`decisions: ${JSON.stringify(call.call_id)} waits for a sign-in, or decline`)
  },
} satisfies Record<PendingKind, (decision: Decision) => void>

const notAsked = ({ call_id }: PendingCall): never =>
  badRequest(`decisions: ${JSON.stringify(call_id)} asks nothing: approve, reject or respond`)

/** A session that waits, with the tools of its agent. */
export interface AskingSession {
  wait: Wait
  openToolbox(): Promise<CheckedToolbox>
}

/** The session below that asks, and its agent. */
export type SessionBelow = NonNullable<PendingCall['path']>[number]

export interface DecisionChecks {
  /** Opens the tools of the session's own agent. */
  openToolbox(): Promise<CheckedToolbox>
  /** Finds a session below this one. Throws 409 where it waits no more. */
  below(session: SessionBelow): Promise<AskingSession>
  /** Returns whether a call with one of these ids, of a session below, was decided before. */
  wasDecidedBelow(callIds: readonly string[]): Promise<boolean>
  checkContent: CheckContent
}

/** Returns the decisions, without arguments that equal the model's own. Throws 400, 403 or 409. */
export async function fittingDecisions(
  given: GivenDecisions,
  { openToolbox, below, wasDecidedBelow, checkContent }: DecisionChecks,
): Promise<DecidedCall[]> {
  const { wait, bySecret, inPart, decides, isOwnAlone = false } = given
  if (wait === null) return refuse('not_waiting')
  if (wait.pending.some(({ kind, path }) => !decides.includes(kind) || (isOwnAlone && path))) refuseSurface()
  const decisions = inPart ? given.calls : undecidedAmong(given.calls, wait)
  if (inPart && decisions.some(({ id }) => wait.decided.some((call) => call.id === id))) refuse('not_waiting')
  const unknown = decisions.flatMap(({ id }) => (wait.pending.some(({ call_id }) => call_id === id) ? [] : [id]))
  if (unknown.length > 0 && (await wasDecidedBelow(unknown))) refuse('not_waiting')
  const pairs = pairsOf({ ...given, calls: decisions }, wait)
  for (const pair of pairs) checks[pair.call.kind](pair)
  for (const pair of pairs) await checkForm(pair, checkContent)
  const changed = pairs.filter(({ decided }) => decided.arguments !== undefined)
  const asking = ({ path }: PendingCall) => {
    const session = path?.at(-1)
    return session ? below(session) : Promise.resolve({ wait, openToolbox })
  }
  for (const one of changed) await checkArguments(one, await asking(one.call))
  return await Promise.all(
    pairs.map(async (pair): Promise<DecidedCall> => {
      const { wish: _, ...sent } = pair.decided
      const session = pair.call.path?.at(-1)?.session_id
      const decided = { ...sent, ...(session && { session }) }
      const remember = pair.decided.wish && (await rememberedOf(pair, await asking(pair.call), given))
      return { ...decided, ...(remember && { remember }) }
    }),
  )

  function pairsOf({ calls, asMessages }: GivenDecisions, { pending }: Wait): Decision[] {
    const where = asMessages ? 'messages' : 'decisions'
    const found = calls.map((decided, index) => {
      const call = questionMeant(decided, pending, `${where}.${index}`)
      if (call === undefined) return badRequest(`${where}: nothing waits under the id ${JSON.stringify(decided.id)}`)
      const isSame = ({ id, key }: DecidedCall) => id === decided.id && (key ?? call.key) === call.key
      if (calls.findIndex(isSame) < index) {
        return badRequest(`${where}: ${JSON.stringify(decided.id)} is decided twice`)
      }
      const key = call.kind === 'sign_in' ? SIGN_IN_KEY : call.key
      const keyed = key === undefined ? decided : { ...decided, key }
      return { call, decided: withoutOwnArguments(keyed, call), where: `${where}.${index}`, bySecret }
    })
    const missed = pending.find((one) => !found.some(({ call }) => call === one))
    if (missed && !inPart)
      badRequest(`${where}: ${JSON.stringify(missed.call_id)} waits too, and must be decided with the others`)
    return found
  }
}

/** The check of a form's content. Resolves to the reason why it does not fit, which names the field; null when it does. */
export type CheckContent = (schema: Record<string, unknown>, content: string) => Promise<string | null>

async function checkForm({ call: { schema }, decided: { content }, where }: Decision, check: CheckContent) {
  if (!schema || content === undefined) return
  const reason = await check(schema, content)
  if (reason !== null) badRequest(`${where}.content: ${reason}`)
}

/** Finds the pending call, or its question, that a decision is about. Throws 400 for a key that names none. */
function questionMeant({ id, key }: DecidedCall, pending: readonly PendingCall[], where: string) {
  const ofCall = pending.filter(({ call_id }) => call_id === id)
  const [first] = ofCall
  if (first?.key === undefined && key === undefined) return first
  if (key === undefined && ofCall.length > 1)
    return badRequest(`${where}.key: is required, since the call asks several questions`)
  if (key === undefined || first === undefined) return first
  return ofCall.find((call) => call.key === key) ?? badRequest(`${where}.key: the call asks no such question`)
}

/** Throws 409. */
function refuseSurface(): never {
  throw new HttpError(409, 'Other calls wait in this session, which …/actions decides.', noRetry)
}

/**
 * Returns the decisions without those that were made before. Pages send all that they know of again. Throws 409 where one
 * says something else.
 */
function undecidedAmong(calls: readonly GivenDecision[], { decided }: Wait): GivenDecision[] {
  return calls.filter(({ wish: _, ...call }) => {
    const before = decided.find(({ id }) => id === call.id)
    if (before !== undefined && !isDeepStrictEqual({ ...before }, { ...call })) refuse('not_waiting')
    return before === undefined
  })
}

async function checkArguments({ call, decided, where }: Decision, { wait, openToolbox }: AskingSession): Promise<void> {
  const tool = wait.carried.chain.turn.waiting.find((waiting) => waiting?.id === decided.id)?.tool
  const toolbox = await openToolbox()
  const reason = await toolbox.check({ name: call.name, arguments: decided.arguments ?? '', tool })
  if (reason !== null) badRequest(`${where}.arguments: ${reason}`)
}

function withoutOwnArguments({ arguments: changed, ...decided }: GivenDecision, call: PendingCall): GivenDecision {
  return changed === undefined || isSameJson(changed, call.arguments) ? decided : { ...decided, arguments: changed }
}
