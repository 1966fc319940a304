/** The sessions that live here: their actors, the replies at work, and what is asked of their machines. */
import { Actor, type InspectionEvent } from 'xstate'
import type { Exchange, Journal, TransitionRecord, TransitionRecorder } from '../ports/index.ts'
import { errorOf } from '../reply/reply-event.ts'
import { sessionActions, sessionActors, settledDetail } from './actors.ts'
import { pathOf, sessionMachine } from './machine.ts'
import {
  createSessionRegistry,
  createSlots,
  type Holding,
  isRunning,
  type LiveSession,
  type SessionRegistry,
  type Slots,
} from './registry.ts'
import type { Continued, RunningReply } from './running-reply.ts'

/** The time for which it is shown where a session came to rest. */
const SHOWN_MS = 5000

export interface LiveSessions {
  registry: SessionRegistry
  /** Sessions with a reply at work, by that reply's id. */
  byReply: Map<string, LiveSession>
  /**
   * Messages that are being admitted, by the id of their reply. They count as running: a burst would pass the limit, a
   * drain would end before their start, and a row whose answer is slow to come would be taken for an orphan.
   */
  admitting: Map<string, Admitting>
  /**
   * Replies that this instance does nothing more for without knowing whose they are: it has offered or claimed them, and
   * had no answer. One that proves to be its own is offered again, not ended.
   */
  left: Set<string>
  slots: Slots
  /** Sessions that are held without a reply, by the id that they are held by. */
  held: Map<string, Holding>
  recorder: TransitionRecorder
  exchange: Exchange
  machine: typeof sessionMachine
  /**
   * Follows the machines. There is one function for all actors: XState keeps that of an actor longer than its reply
   * (bench/profiles), which must not be kept.
   */
  inspect(event: InspectionEvent): void
}

export interface Admitting {
  /** The promise that resolves when its reply has begun, or will not. */
  over: Promise<void>
  /** The request that came before the answer: others see the row earlier. */
  stopped: 'cancelled' | 'deleted' | null
}

export interface LiveOptions {
  journal: Journal
  exchange: Exchange
  recorder: TransitionRecorder
  log: { error(details: object, message: string): void; warn(details: object, message: string): void }
}

export function createLiveSessions({
  journal,
  exchange,
  recorder,
  log,
  ended,
}: LiveOptions & { ended(next: string | null): void }): LiveSessions {
  const machine = sessionMachine.provide({
    actors: sessionActors({
      journal,
      recorder,
      onError: (err, reply) => log.error({ err, replyId: reply.id }, 'A reply met an unexpected error.'),
    }),
    actions: {
      ...sessionActions,
      beginNext: ({ event }) => void (event.type === 'settled' && ended(event.next ?? null)),
    },
  })
  const registry = createSessionRegistry()
  const sessions: LiveSessions = {
    registry,
    byReply: new Map(),
    admitting: new Map(),
    left: new Set(),
    held: new Map(),
    slots: createSlots(registry),
    recorder,
    exchange,
    machine,
    inspect: (event) => observe(sessions, event),
  }
  return sessions
}

/**
 * Follows the machines: their states, the records of their steps, the end of their replies. An actor has its reply's
 * id.
 */
function observe(sessions: LiveSessions, event: InspectionEvent): void {
  if (event.type !== '@xstate.snapshot' || !(event.actorRef instanceof Actor)) return
  const session = sessions.byReply.get(event.actorRef.id)
  if (session === undefined || event.actorRef !== session.actor) return
  const to = pathOf(session.actor.getSnapshot().value)
  const from = session.state
  if (to === from && event.event.type !== 'adopted') return
  const { reply } = session
  const at = new Date()
  Object.assign(session, { state: to, since: at })
  const { id: messageId, sessionId } = reply.log.info
  const { type } = event.event
  // The instance that declares a reply lost records it (lose_replies); the owner, once fenced, writes nothing. What a deleted
  // session did goes with it.
  if (type !== 'lost' && type !== 'deleted' && !(type === 'settled' && reply.isEndRecorded)) {
    sessions.recorder.record({
      sessionId,
      at,
      from,
      to,
      event: type,
      messageId,
      detail: detailOf(session, reply, type),
    })
  }
  if (!isRunning(session)) finish(sessions, session, reply)
}

function detailOf(session: LiveSession, reply: RunningReply, event: string): TransitionRecord['detail'] {
  const { continued, parentId, isRegenerated, adopted } = reply
  if (event === 'message' || event === 'next') return isRegenerated ? { parentId, regenerate: true } : { parentId }
  const { ending } = session.actor.getSnapshot().context
  if ((event === 'failed' || event === 'unstorable') && ending?.type === 'failed') return { code: ending.error.code }
  if (event === 'finished' && ending?.type === 'finished') return { finishReason: ending.reason }
  if (event === 'adopted') return { reason: adopted }
  if (event === 'decided' && continued) return decidedDetail(continued)
  return event === 'settled' ? settledDetail(reply) : {}
}

/** Counts the calls by decision, and names who decided. */
function decidedDetail({ decisions, by }: Continued): Record<string, string | number> {
  const detail: Record<string, string | number> = by === null ? {} : { decidedBy: by }
  for (const { decision } of decisions) detail[decision] = Number(detail[decision] ?? 0) + 1
  return detail
}

function finish({ byReply, registry, exchange }: LiveSessions, session: LiveSession, reply: RunningReply): void {
  const { id } = reply.log.info
  registry.rest(session)
  if (byReply.delete(id)) {
    registry.ended()
    if (reply.end.outcome === 'session_deleted') void observeDeleted(reply)
    else reply.observer.on({ type: 'ended', ...reply.end, usage: reply.usage })
  }
  exchange.ended(id)
  session.ended.resolve()
}

/** Counts the use of a reply whose session was deleted, though no message shows it any more. */
async function observeDeleted({ generation, observer, usage }: RunningReply): Promise<void> {
  observer.on({ type: 'ended', outcome: 'session_deleted', usage: (await generation?.usage()) ?? usage, error: null })
}

/** Cancels a reply at once, or as soon as it begins. An id that is no reply's may be that of a holding. */
export function cancelReply({ byReply, admitting, held }: LiveSessions, replyId: string): void {
  held.get(replyId)?.stop('cancelled')
  const session = byReply.get(replyId)
  if (session?.offer) {
    session.offer.cancel()
    return
  }
  session?.actor.send({ type: 'cancel' })
  const one = admitting.get(replyId)
  if (one) one.stopped ??= 'cancelled'
}

/**
 * Stops the actor of a session that is gone; its streams end with `session_deleted`. `replyId`: the reply or holding that ran
 * in it. Another one is that of a session that was made under the same id since.
 */
export function forgetSession(sessions: LiveSessions, sessionId: string, replyId: string | null = null): void {
  const { registry, held, admitting } = sessions
  for (const [hold, one] of held) {
    if (one.sessionId === sessionId && (replyId === null || replyId === hold)) one.stop('deleted')
  }
  const begins = replyId === null ? undefined : admitting.get(replyId)
  if (begins) begins.stopped = 'deleted'
  const session = registry.live.get(sessionId)
  if (replyId !== null && session !== undefined && session.reply.log.info.id !== replyId) return
  session?.actor.send({ type: 'deleted' })
  registry.forget(sessionId)
}

/** Ends whatever replies here for an agent that is gone, as in a deleted session (contract section 2). */
export function forgetAgent(sessions: LiveSessions, agentId: string): void {
  const { live, rested } = sessions.registry
  for (const session of [...live.values(), ...rested.values()]) {
    if (session.agentId === agentId) forgetSession(sessions, session.sessionId)
  }
  sessions.slots.end(errorOf('session_deleted', 'The agent was deleted.'), agentId)
}

/** Breaks off the streams of a reply and stops its model; the outcome waits for the database. */
export function breakOff({ actor, reply }: LiveSession, message: string): void {
  if (reply.log.state() !== 'open') return
  reply.notStored = true
  actor.send({ type: 'unstorable', error: errorOf('internal', message) })
}

/**
 * Breaks off replies that could not be stored for a lease; forgets where sessions came to rest. Call at least six times
 * per lease.
 */
export function checkSessions({ registry }: LiveSessions, leaseMs: number): void {
  const now = performance.now()
  for (const session of [...registry.live.values()]) {
    const { reply } = session
    const waitingSince = reply.log.unstoredSince() ?? reply.settlingSince
    if (waitingSince === null || now - waitingSince <= leaseMs) continue
    breakOff(session, 'The reply could not be stored in time.')
  }
  for (const { sessionId, since } of registry.rested.values()) {
    if (Date.now() - since.getTime() <= SHOWN_MS) break
    registry.forget(sessionId)
  }
}
