/** Wires up the host of all sessions: its extensions, and what capabilities do within replies. */
import type { LeaseGate } from '../actors/generate/endings.ts'
import { cutText } from '../actors/history/tool-turns.ts'
import type { Journal, Model } from '../actors/ports/index.ts'
import { createHost, createSessionHost } from '../actors/session/host.ts'
import { createTimers } from '../async/timers.ts'
import { createExpiry } from '../features/approvals/expiry.ts'
import { readRemembered } from '../features/approvals/store/remembered/remembered.ts'
import { createCallPolicy } from '../features/approvals/waiting-calls.ts'
import { childOf } from '../features/children/index.ts'
import { createCompactions } from '../features/compaction/compact-session.ts'
import { createCompaction } from '../features/compaction/compaction.ts'
import { createContinuation } from '../features/continuation/continuation.ts'
import { basisOfClaimed } from '../features/continuation/taken-over.ts'
import type { LimitGate } from '../features/limits/store/limits.ts'
import { createFollowedStore, createFollowers } from '../features/live-lists/index.ts'
import { preparing } from '../features/queue/prepare-queued.ts'
import { createQueue } from '../features/queue/queue.ts'
import { createQueueStore } from '../features/queue/store/queue.ts'
import { reportOf } from '../features/traces/actor-report.ts'
import { noteReplies } from '../features/traces/reply-notes.ts'
import { createActorReports } from '../features/traces/store/actor-reports.ts'
import type { RequestWriter } from '../features/traces/store/request-writer.ts'
import { createRequestWriter, createStoredTexts } from '../features/traces/store/request-writer.ts'
import type { RecordDependencies } from '../http/sending/message-record.ts'
import { rebuiltBasis, rebuiltMessage } from '../http/sending/rebuilt.ts'
import { together } from '../observability/observers.ts'
import { askAgain, isUnavailable } from '../persistence/postgres/database.ts'
import type { Settings } from '../settings.ts'
import { capabilities } from './capabilities.ts'
import { type LateChildren, openChildren } from './features/children.ts'
import { openReplays } from './features/replays.ts'
import { faultLog } from './observation.ts'
import type { Ground, openOwnership } from './ownership.ts'

/** The interval at which messages begin that no settlement begins: after a drain, a crash, a start (contract section 22). */
const TEND_MS = 1000
/** The interval at which approvals are looked for whose time is over. They follow within 10 s (contract section 29). */
const EXPIRE_MS = 2000

/** The interval at which cases of replays are taken, and those that were cancelled are stopped. */
const REPLAY_MS = 500

interface HostParts
  extends Pick<
    Awaited<ReturnType<typeof openOwnership>>,
    'coordination' | 'work' | 'recorder' | 'handovers' | 'holds'
  > {
  journal: Journal
  model: Model
  gate: LeaseGate
  answering: RecordDependencies
  children: LateChildren
  limits: LimitGate
}

/** Opens the host. Its replies may be taken over, and messages begin, from now on. */
export function openHost({ settings, repliesSql, log, closing, observation }: Ground, parts: HostParts) {
  const {
    coordination,
    work,
    recorder,
    handovers,
    holds,
    journal,
    model,
    gate,
    answering,
    limits,
    children: late,
  } = parts
  const { observer, metrics } = observation
  const inner = createHost({
    model,
    gate,
    recorder,
    journal,
    leaseMs: settings.ownerLeaseMs,
    generationTimeoutMs: settings.generationTimeoutS * 1000,
    observer: together([observer, noteReplies(recorder, requestWriters(settings))]),
    log: faultLog(log),
    exchange: coordination.exchange,
    maxRunning: settings.maxRunningReplies,
    historyMaxTokens: settings.historyMaxTokens,
    capabilities: {
      ...capabilities,
      calls: createCallPolicy((replyId, tools) => readRemembered(repliesSql, replyId, tools)),
      compaction: (...reply) => createCompaction(holds, ...reply),
      keepTurn: handovers.keepTurn,
    },
  })
  const owner = () => ({ id: coordination.id, epoch: coordination.epoch() })
  const queue = createQueue(inner, {
    store: createQueueStore(repliesSql, owner),
    prepare: preparing((...message) => rebuiltMessage(answering, ...message)),
  })
  const basisOf = basisOfClaimed((...reply) => rebuiltBasis(answering, ...reply))
  const continuation = createContinuation(inner, {
    handovers,
    basisOf: (...claimed) => askAgain(() => basisOf(...claimed), settings.ownerLeaseMs),
    agentOf: (call) => childOf(call)?.agentId,
    isAway: isUnavailable,
    onTakenOver: metrics?.onTakenOver,
  })
  // A message that steers goes before a handover: a reply that ends needs no other instance.
  const children = openChildren(inner, { sql: repliesSql, owner, settings, generate: queue.generate })
  late.opened = children
  const host = createSessionHost(inner, [queue, continuation, children])
  const { id, exchange } = coordination
  const actorReports = createActorReports({ sql: work, id, exchange, own: () => reportOf(inner) })
  const { takeOver } = continuation
  coordination.start(host.owned, { tick: host.tick, takeOver, answer: actorReports.answer })
  const timers = createTimers((err, task) => log.warn({ err }, `${task} failed.`))
  timers.every(TEND_MS, 'Beginning queued messages', queue.tend)
  timers.every(TEND_MS, 'Tending child sessions', children.tend)
  const expire = createExpiry({ sql: repliesSql, owner, host: inner, generate: queue.generate })
  timers.every(EXPIRE_MS, 'Rejecting approvals that have expired', expire)
  const compactions = createCompactions(inner, holds)
  timers.every(TEND_MS, 'Releasing sessions that were held late', compactions.tend)
  const replays = openReplays(inner, { sql: repliesSql, owner, answering, onLeft: () => wakeReplays() })
  const wakeReplays: () => void = timers.every(REPLAY_MS, 'Running replays', replays.tend)
  timers.every(TEND_MS, 'Giving back places that were taken late', limits.giveBackLate)
  const followers = createFollowers(createFollowedStore(repliesSql, coordination))
  timers.every(TEND_MS, 'Telling how many lists are followed', followers.tend)
  closing.defer(timers.stop)
  const beginning = { owner: () => (inner.refusal() === null ? owner() : null), generate: queue.generate }
  return { host, actorReports, followers, queue, compactions, limits, capabilities, wakeReplays, beginning }
}

/** Returns null when requests to models are not kept. */
function requestWriters({ traceRequests }: Settings): (() => RequestWriter) | null {
  const texts = createStoredTexts()
  return traceRequests === 'on' ? () => createRequestWriter(texts, cutText) : null
}
