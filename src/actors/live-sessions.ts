/** The sessions that live here: their actors, the replies at work, and what ends them. */
import { createActor, type InspectionEvent } from 'xstate'
import type { Exchange, Journal, OwnedReplies, RestState } from './ports.ts'
import type { RemoteReplies } from './remote-reply.ts'
import type { ReplyError } from './reply-event.ts'
import { type RunningReply, sessionActors } from './session-actors.ts'
import { pathOf, restingAt, sessionMachine } from './session-machine.ts'
import {
  createSessionRegistry,
  isAtRest,
  isRunning,
  type LiveSession,
  type SessionRegistry,
} from './session-registry.ts'
import { createSlots, type Slots } from './slots.ts'
import type { TransitionRecorder } from './transitions.ts'

/** How long a session without a running reply stays in memory. */
const LINGER_MS = 5000

export interface LiveSessions {
  registry: SessionRegistry
  /** Sessions with a reply at work, by that reply's id. */
  byReply: Map<string, LiveSession>
  /**
   * Messages that are being admitted, by the id of their reply. They count as running: a burst would pass the limit, a
   * drain would end before their start, and a row whose answer is slow to come would be taken for a stray.
   */
  admitting: Map<string, Promise<unknown>>
  slots: Slots
  recorder: TransitionRecorder
  exchange: Exchange
  machine: typeof sessionMachine
}

export interface LiveOptions {
  journal: Journal
  exchange: Exchange
  recorder: TransitionRecorder
  log: { error(details: object, message: string): void; warn(details: object, message: string): void }
}

export const failed = (code: ReplyError['code'], message: string) =>
  ({ type: 'failed', error: { code, message, detail: message } }) as const

export function createLiveSessions({ journal, exchange, recorder, log }: LiveOptions): LiveSessions {
  const byReply: LiveSessions['byReply'] = new Map()
  const machine = sessionMachine.provide({
    actors: sessionActors({
      journal,
      running: (replyId) => byReply.get(replyId)?.reply ?? undefined,
      onError: (err, reply) => log.error({ err, replyId: reply.id }, 'A reply met an unexpected error.'),
    }),
  })
  const registry = createSessionRegistry()
  return { registry, byReply, admitting: new Map(), slots: createSlots(registry), recorder, exchange, machine }
}

export const liveSessions = ({ registry }: LiveSessions): readonly LiveSession[] => [
  ...registry.getSnapshot().context.live.values(),
]

/** Replies that run here, stateless ones included. */
export const runningReplies = ({ registry }: LiveSessions): number => registry.getSnapshot().context.running

const find = ({ registry }: LiveSessions, sessionId: string) => registry.getSnapshot().context.live.get(sessionId)

/** Gives a reply to its session's actor: the one that rests here, or a new one in the state that the rows tell. */
export function beginReply(sessions: LiveSessions, agentId: string, state: RestState, reply: RunningReply): void {
  const session = enter(sessions, agentId, state, reply)
  sessions.byReply.set(reply.log.info.id, session)
  sessions.registry.trigger.began()
  session.actor.send({ type: 'message', reply: reply.log.info })
}

function enter(sessions: LiveSessions, agentId: string, state: RestState, reply: RunningReply): LiveSession {
  const { sessionId } = reply.log.info
  const known = find(sessions, sessionId)
  if (known && isAtRest(known, state)) {
    Object.assign(known, { reply, ended: Promise.withResolvers<void>() })
    return known
  }
  if (known) makeWay(known)
  const session: LiveSession = {
    sessionId,
    agentId,
    actor: createActor(sessions.machine, { snapshot: restingAt(state) }),
    state,
    since: new Date(),
    reply,
    ended: Promise.withResolvers<void>(),
  }
  session.actor.system.inspect((event) => observe(sessions, session, event))
  sessions.registry.trigger.entered({ session })
  session.actor.start()
  return session
}

/** The actor of a session whose newest reply it does not know: that ran elsewhere, or others have ended its own. */
function makeWay(known: LiveSession): void {
  // Stored, as the newer message proves; only the answer is under way. It closes its log and ends by itself.
  if (known.state === 'streaming.settling') return
  if (isRunning(known)) {
    known.reply?.log.cut()
    known.actor.send({ type: 'lost' })
  }
  known.actor.stop()
}

/** Follows the machine: its state, the records of its steps, the end of its reply. */
function observe(sessions: LiveSessions, session: LiveSession, event: InspectionEvent): void {
  if (event.type !== '@xstate.snapshot' || event.actorRef !== session.actor) return
  const to = pathOf(session.actor.getSnapshot().value)
  const from = session.state
  if (to === from || session.reply === null) return
  const at = new Date()
  Object.assign(session, { state: to, since: at })
  const { id: messageId, sessionId } = session.reply.log.info
  const { type } = event.event
  // Whoever declares a reply lost records it (lose_reply); the owner, once fenced, writes nothing.
  if (type !== 'lost') {
    sessions.recorder.record({ sessionId, at, from, to, event: type, messageId, detail: detailOf(session, type) })
  }
  if (!isRunning(session)) finish(sessions, session, session.reply)
}

function detailOf(session: LiveSession, event: string): Record<string, string | number | boolean> {
  const { ending } = session.actor.getSnapshot().context
  if (event === 'failed' && ending?.type === 'failed') return { code: ending.error.code }
  if (event === 'finished' && ending?.type === 'finished') return { finishReason: ending.reason }
  if (event !== 'settled') return {}
  if (session.reply === null) return {}
  const { usage, requesterLost } = session.reply
  return { promptTokens: usage.promptTokens, completionTokens: usage.completionTokens, requesterLost }
}

function finish(
  { byReply, registry, exchange }: LiveSessions,
  session: LiveSession,
  reply: RunningReply,
  tell = () => reply.observer.ended({ ...reply.end, usage: reply.usage }),
): void {
  const { id } = reply.log.info
  session.reply = null
  if (byReply.delete(id)) {
    registry.trigger.ended()
    tell()
  }
  exchange.ended(id)
  session.ended.resolve()
}

/** The session is gone: its actor stops, its streams end with `session_deleted`. */
export function forgetSession(sessions: LiveSessions, sessionId: string): void {
  const session = find(sessions, sessionId)
  if (!session) return
  const { reply } = session
  session.actor.stop()
  sessions.registry.trigger.left({ session })
  if (reply === null) return
  reply.log.drop()
  finish(sessions, session, reply, async () => {
    // What the model was asked has been used, though no message tells of it any more.
    const usage = await reply.generation?.usage()
    reply.observer.ended({ outcome: 'session_deleted', usage: usage ?? reply.usage, error: null })
  })
}

/** The agent is gone with its sessions: whatever replies for it here ends as in a deleted session (contract section 2). */
export function forgetAgent(sessions: LiveSessions, agentId: string): void {
  for (const session of liveSessions(sessions)) {
    if (session.agentId === agentId) forgetSession(sessions, session.sessionId)
  }
  sessions.slots.end(failed('session_deleted', 'The agent was deleted.').error, agentId)
}

/** Closes streams whose reply has not been stored for a lease; lets go of sessions that rest. Call it often. */
export function checkSessions(sessions: LiveSessions, leaseMs: number): void {
  const now = performance.now()
  for (const session of liveSessions(sessions)) {
    const { reply, actor } = session
    if (reply === null) {
      if (Date.now() - session.since.getTime() <= LINGER_MS) continue
      actor.stop()
      sessions.registry.trigger.left({ session })
      continue
    }
    const waitingSince = reply.log.unstoredSince() ?? reply.settlingSince
    if (waitingSince === null || now - waitingSince <= leaseMs || reply.log.state() !== 'open') continue
    reply.requesterLost = true
    reply.notStored = true
    reply.log.cut()
    actor.send(failed('internal', 'The reply could not be stored in time.'))
  }
}

function lose(session: LiveSession | undefined): void {
  session?.reply?.log.cut()
  session?.actor.send({ type: 'lost' })
}

/** What coordination asks of the replies that run here. */
export function ownedReplies(
  sessions: LiveSessions,
  remote: RemoteReplies,
  { journal, log }: Pick<LiveOptions, 'journal' | 'log'>,
): OwnedReplies {
  const { byReply, admitting } = sessions
  return {
    running: () => new Set([...byReply.keys(), ...admitting.keys()]),
    placeOf: (replyId) => byReply.get(replyId)?.reply?.log.place() ?? null,
    report: () => ({
      actors: liveSessions(sessions).map(({ sessionId, agentId, state, since, reply }) => ({
        ...{ sessionId, agentId, state, since: since.toISOString(), subscribers: reply?.log.subscribers() ?? 0 },
      })),
      followed: remote.followed(),
    }),
    obey({ kind, sessionId, replyId }) {
      if (kind === 'delete') forgetSession(sessions, sessionId)
      else if (replyId !== null) byReply.get(replyId)?.actor.send({ type: 'cancel' })
    },
    statelessAgents: () => sessions.slots.agents(),
    forgetAgent: (agentId) => forgetAgent(sessions, agentId),
    fenced(epoch) {
      for (const session of [...byReply.values()]) if ((session.reply?.log.info.epoch ?? epoch) <= epoch) lose(session)
    },
    async settleStray(reply) {
      const { error } = failed('internal', 'The reply was abandoned.')
      const usage = { promptTokens: 0, completionTokens: 0, estimated: true }
      const outcome = { type: 'failed', error, usage } as const
      const settlement = { outcome, said: null, endedAt: new Date(), requesterLost: true, title: null }
      const { result } = await journal.settle(reply, settlement)
      if (result !== 'settled') return
      const { id: replyId, sessionId, model } = reply
      const { code, detail } = error
      const ms = Date.now() - Date.parse(reply.createdAt)
      // Null: known only to the actor that is gone.
      const unknown = { reqId: null, agentId: null, providerId: null, attempts: null }
      log.warn({ ...unknown, sessionId, replyId, model, code, detail, ms }, 'A reply failed.')
    },
    dropStray: (replyId) => lose(byReply.get(replyId)),
  }
}
