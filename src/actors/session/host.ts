/**
 * The only interface to sessions for the other modules: messages in, replies out, wherever they run or ran.
 */

import { atMost } from '../../async/pause.ts'
import { type CompactionOrder, compactSession } from '../../features/compaction/compact-session.ts'
import { type AdoptOptions, takeOver } from '../../features/continuation/adopt.ts'
import { offerAtBoundary, offerTheRest } from '../../features/continuation/giving.ts'
import { beginQueued, type QueueHost, type QueueOptions, tendQueues } from '../../features/queue/begin-queued.ts'
import { interruptQueue, type Place, queuedAs } from '../../features/queue/send-queued.ts'
import { createWaitingRequests } from '../../features/queue/waiting-requests.ts'
import type { TransitionRecorder } from '../../features/traces/transitions.ts'
import { historyLimits } from '../history/history.ts'
import { deriveTitle } from '../history/title.ts'
import type { Admission, NewParts, ToCancel } from '../ports/index.ts'
import type { Reply } from '../reply/frame-log.ts'
import { newId } from '../reply/new-id.ts'
import { createRemoteReplies, type RemoteReplies } from '../reply/remote-reply.ts'
import { replyOf, startReply } from '../reply/start-reply.ts'
import { cancelAndWait } from './cancel.ts'
import { drainSessions } from './drain.ts'
import { checkSessions, createLiveSessions, errorOf, forgetAgent, forgetSession } from './live-sessions.ts'
import { ownedReplies } from './owned.ts'
import { findAdmitted } from './recover-admission.ts'
import type { Slot } from './registry.ts'
import type { HostSent, Message, ReadyMessage } from './send.ts'

export interface HostOptions extends AdoptOptions {
  recorder: TransitionRecorder
  maxRunning: number
  /**
   * So long a reply may go without a successful write before its streams close, and so long an admission of unknown
   * outcome is asked about (milliseconds).
   */
  leaseMs: number
  /** When absent, no message waits. */
  queue?: QueueOptions
}

export type { HostSent, Limited, Message, MessageRecord, Refusal, ReplyBasis, Sent } from './send.ts'

/** Longest wait for the database to know that this instance drains. */
const TELL_MS = 1000

const shutdownError = errorOf('shutdown', 'The instance is shutting down.')

interface Host extends QueueHost {
  options: HostOptions
  remote: RemoteReplies
  isLeaving: boolean
  beginNext(replyId: string): void
  open(replyId: string): Promise<Reply | null>
}

export type SessionHost = ReturnType<typeof createSessionHost>

export function createSessionHost(options: HostOptions) {
  const { journal, exchange, leaseMs, recorder, log } = options
  const beginNext = (replyId: string): void => beginQueued(host, replyId)
  const host: Host = {
    ...createLiveSessions({ journal, exchange, recorder, log, beginNext }),
    beginNext,
    options,
    draining: false,
    isLeaving: false,
    queue: options.queue
      ? { options: options.queue, waiting: createWaitingRequests(options.queue.store.states) }
      : null,
    open: (replyId) => open(host, replyId),
    atBoundary: (replyId) => (host.draining && !host.isLeaving ? offerAtBoundary(host, replyId) : undefined),
    remote: createRemoteReplies({ read: (...asked) => journal.read(...asked), exchange, waitLimitMs: leaseMs }),
  }
  return {
    registry: host.registry,
    owned: ownedReplies(host, host.remote, {
      journal,
      gate: options.gate,
      log,
      takeOver: (lost) => takeOver(host, lost),
    }),
    draining: () => host.draining,
    /** Replies that run here, stateless ones included. */
    running: host.registry.running,
    send: (message: Message) => send(host, message),
    open: (replyId: string) => open(host, replyId),
    cancel: (sessionId: string, which?: ToCancel) => cancelAndWait(host, sessionId, which),
    /** Has a session's path summarised now. */
    compact: (order: CompactionOrder) => compact(host, order),
    /** Takes a message that waits (by its id or its reply's) out of the queue, or (null) all. False when none was there. */
    dequeue: (sessionId: string, id: string | null) => dequeue(host, sessionId, id),
    /** Call once a second. */
    tendQueues: () => tendQueues(host),
    /** The reply to a message that waits. */
    queued: (place: Place) => queuedAs(host, place, true),
    /** These sessions were deleted while `owners` (instances) ran replies of theirs. */
    forget(sessionIds: readonly string[], owners: readonly string[]) {
      for (const id of sessionIds) forgetSession(host, id)
      exchange.wake(owners)
    },
    /** This agent was deleted, with its sessions; any of `instances` may reply for it. */
    forgetAgent(agentId: string, instances: readonly string[]) {
      forgetAgent(host, agentId)
      exchange.wake(instances)
    },
    tick: () => checkSessions(host, leaseMs),
    takeSlot: (agentId: string) => takeSlot(host, agentId),
    /** Takes no new replies; running ones may finish for `graceMs`, the rest end as `shutdown`. */
    async drain(graceMs: number, settleMs: number): Promise<void> {
      host.draining = true
      // Whatever ends from now on begins no message here, and what others leave goes on elsewhere.
      await atMost(TELL_MS, sayNotReady(host))
      await atMost(leaseMs, Promise.all([...host.admitting.values()].map(({ over }) => over)))
      const onGraceOver = () => host.queue?.waiting.breakOff()
      const giveUp = () => offerTheRest(host)
      await drainSessions(host, { graceMs, settleMs, error: shutdownError, log, onGraceOver, giveUp })
      await recorder.flush()
    },
  }
}

/** A database that is away ends nothing, and gives nothing away. */
async function sayNotReady(host: Host): Promise<void> {
  const saying = [tendQueues(host), host.options.handovers?.setReady(false)]
  await Promise.allSettled(saying)
}

/** Admits a message and starts its reply, joins the one it repeats, or says why not. */
async function send(host: Host, message: Message): Promise<HostSent> {
  const { parts } = message
  if (parts === undefined) return sendReady(host, { ...message, parts: [] })
  const known = await lookFirst(host, message, parts)
  return known ?? sendReady(host, { ...message, parts: await parts.store() })
}

/** What needs no parts: a join, or a refusal. Null when they are to be fetched and stored. */
async function lookFirst(host: Host, message: Message, { identities }: NewParts): Promise<HostSent | null> {
  const look = { ...message, parts: identities, replyId: newId(), mayStart: false }
  const looked = await host.options.journal.admit(look)
  if (looked.outcome === 'refused' && message.joinOnly !== true && refusalOf(host) === null) return null
  if (looked.outcome === 'busy' && message.onBusy !== 'reject') return host.draining ? { outcome: 'draining' } : null
  return answered(host, message.sessionId, looked)
}

async function sendReady(host: Host, message: ReadyMessage): Promise<HostSent> {
  const sent = await admit(host, message)
  if (sent.outcome !== 'busy') return await interrupting(host, sent, message.sessionId)
  // Whatever it was to do when busy: it cannot start here any more, and the running reply has been promised its time.
  if (host.draining) return { outcome: 'draining' }
  if (message.onBusy !== 'interrupt') return sent
  await cancelAndWait(host, message.sessionId)
  return await interrupting(host, await admit(host, message), message.sessionId)
}

/** A message that goes before all that is queued ends what runs. */
async function interrupting(host: Host, sent: HostSent, sessionId: string): Promise<HostSent> {
  const goesFirst = sent.outcome === 'queued' && sent.position === 0
  return goesFirst ? await interruptQueue(host, sent, sessionId) : sent
}

/** One whose outcome is unknown keeps its place among the running replies until it is known, or a lease has passed. */
async function admit(host: Host, message: ReadyMessage): Promise<HostSent> {
  const wanted = { ...message, replyId: newId() }
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const answer = admitNow(host, wanted)
  host.admitting.set(wanted.replyId, { over, stopped: null })
  const end = () => {
    host.admitting.delete(wanted.replyId)
    resolve()
  }
  let isUnknown = false
  try {
    const sent = await answer
    isUnknown = sent.outcome === 'unknown'
    if (isUnknown) void beginLate(host, wanted).finally(end)
    return sent
  } finally {
    if (!isUnknown) end()
  }
}

/** Begins a reply whose client was answered "unknown", if it proves to be stored within one lease. */
async function beginLate(host: Host, message: ReadyMessage & { replyId: string }): Promise<void> {
  const { journal, leaseMs, log } = host.options
  const { replyId, sessionId } = message
  // Not as a retry: what it would join says nothing of itself.
  const look = () => journal.admit({ ...message, isRetry: false, mayStart: false })
  try {
    const admission = await findAdmitted(look, leaseMs)
    if (admission === null) return
    log.info({ replyId, sessionId }, 'A message whose admission was unknown is stored: its reply begins.')
    startReply(host, message, admission).requesterLost()
  } catch (err) {
    log.error({ err, replyId, sessionId }, 'A reply could not be started.')
  }
}

const isFull = (host: Host): boolean => host.registry.running() + host.admitting.size >= host.options.maxRunning

/** Why no reply can begin here. Null when one can. */
function refusalOf(host: Host): 'draining' | 'unavailable' | 'full' | null {
  if (host.draining) return 'draining'
  // A reply that began while the lease is over would be cut by the renewal that is still to come.
  if (!host.options.gate.check()) return 'unavailable'
  return isFull(host) ? 'full' : null
}

async function admitNow(host: Host, message: ReadyMessage & { replyId: string }): Promise<HostSent> {
  const mayStart = message.joinOnly !== true && refusalOf(host) === null
  // A message that waits takes no place among the running replies.
  const mayQueue = message.joinOnly !== true && host.queue !== null && ['full', null].includes(refusalOf(host))
  const limits = historyLimits(message.request.historyMaxTokens ?? host.options.historyMaxTokens)
  const wanted = { ...message, mayStart, mayQueue, title: deriveTitle(message.text), historyLimits: limits }
  const admission = await host.options.journal.admit(wanted)
  if (admission.outcome === 'admitted') return startReply(host, message, admission)
  return answered(host, message.sessionId, admission, message.replyId)
}

/** `replyId`: of the message itself. */
async function answered(host: Host, sessionId: string, admission: Admission, replyId?: string): Promise<HostSent> {
  if (admission.outcome === 'queued') {
    return queuedAs(host, { ...admission, sessionId }, admission.replyId !== replyId)
  }
  if (admission.outcome === 'joined') {
    const reply = await open(host, admission.replyId)
    return reply ? { outcome: 'joined', reply } : { outcome: 'not_found' }
  }
  if (admission.outcome === 'admitted') throw new Error('A look has admitted a message.')
  if (admission.outcome === 'refused') return { outcome: refusalOf(host) ?? 'full' }
  if (admission.outcome === 'limited') return admission
  return { outcome: admission.outcome === 'fenced' ? 'unavailable' : admission.outcome }
}

/** A reply by its id, wherever it runs or ran. Null when there is none (any more). */
async function open({ byReply, remote }: Host, replyId: string): Promise<Reply | null> {
  const here = byReply.get(replyId)?.reply
  const state = here?.log.state()
  if (here && (state === 'open' || state === 'closed')) return replyOf(here)
  return await remote.open(replyId)
}

async function compact(host: Host, order: CompactionOrder) {
  const refusal = refusalOf(host)
  return refusal === null ? await compactSession(host, order) : ({ outcome: refusal } as const)
}

async function dequeue({ queue }: Host, sessionId: string, id: string | null): Promise<boolean> {
  if (queue === null) return false
  const removed = await queue.options.store.remove(sessionId, id)
  queue.waiting.wake()
  return removed.length > 0
}

/** A place for a stateless reply of this agent, or why there is none. */
function takeSlot(host: Host, agentId: string): Slot | 'full' | 'draining' {
  if (host.draining) return 'draining'
  return isFull(host) ? 'full' : host.slots.take(agentId)
}
