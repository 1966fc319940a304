/**
 * The only interface to sessions for the other modules: messages in, replies out, wherever they run or ran.
 */

import { inTurns } from '../../async/in-turns.ts'
import { atMost } from '../../async/pause.ts'
import { historyLimits } from '../history/history.ts'
import { deriveTitle } from '../history/title.ts'
import type { Admission, NewParts, ToCancel } from '../ports/index.ts'
import type { Reply } from '../reply/frame-log.ts'
import { newId } from '../reply/new-id.ts'
import { createRemoteReplies } from '../reply/remote-reply.ts'
import { abandoned } from '../reply/reply-event.ts'
import { replyOf, startReply } from '../reply/start-reply.ts'
import { cancelAndWait } from './cancel.ts'
import { drainSessions } from './drain.ts'
import { drainExtensions, endExtensions, type Host, type HostExtension, type HostOptions } from './extension.ts'
import { checkSessions, createLiveSessions, forgetAgent, forgetSession } from './live-sessions.ts'
import { ownedReplies } from './owned.ts'
import { findAdmitted } from './recover-admission.ts'
import type { Slot } from './registry.ts'
import type { HostSent, MessageRecord, NoRoomHere, Started } from './send.ts'

export type { Host, HostExtension, HostOptions } from './extension.ts'
export type { HostSent, Limited, MessageRecord, Pinned, Refusal, ReplySetup, Sent } from './send.ts'

/** Longest wait for the database to know that this instance drains. */
const ANNOUNCE_MS = 1000

export type SessionHost = ReturnType<typeof createSessionHost>

/** Creates what the host shares with its extensions. `createSessionHost` completes it. */
export function createHost(options: HostOptions): Host {
  const { journal, exchange, leaseMs } = options
  const inTurn = inTurns()
  const host: Host = {
    ...createLiveSessions({ ...options, ended: (next) => endExtensions(host, next) }),
    options,
    extensions: [],
    draining: false,
    refusal: () => refusalOf(host),
    inTurn: (work) => inTurn('begins', work),
    open: (replyId) => open(host, replyId),
    ended: (next) => endExtensions(host, next),
    remote: createRemoteReplies({ read: (...asked) => journal.read(...asked), exchange, waitLimitMs: leaseMs }),
  }
  return host
}

/** Creates the host of all sessions. Its hooks are called in the order of `extensions`. */
export function createSessionHost(host: Host, extensions: readonly HostExtension[]) {
  const { exchange, leaseMs, recorder } = host.options
  host.extensions = extensions
  return {
    registry: host.registry,
    owned: ownedReplies(host),
    draining: () => host.draining,
    /** Replies that run here, stateless ones included. */
    running: host.registry.running,
    send: (record: MessageRecord, parts?: NewParts) => send(host, record, parts),
    open: (replyId: string) => open(host, replyId),
    cancel: (sessionId: string, which?: ToCancel) => cancelAndWait(host, sessionId, which),
    /** Forgets deleted sessions, of which `owners` (instances) ran replies. */
    forget(sessionIds: readonly string[], owners: readonly string[]) {
      for (const id of sessionIds) forgetSession(host, id)
      exchange.wake(owners)
    },
    /** Forgets a deleted agent and its sessions; any of `instances` may reply for it. */
    forgetAgent(agentId: string, instances: readonly string[]) {
      forgetAgent(host, agentId)
      exchange.wake(instances)
    },
    tick: () => checkSessions(host, leaseMs),
    takeSlot: (agentId: string) => takeSlot(host, agentId),
    /** Takes no new replies; running ones may finish for `graceMs`, the rest end as `shutdown`. */
    async drain(graceMs: number, settleMs: number): Promise<void> {
      host.draining = true
      // Messages that wait begin no more here, and replies that others leave are taken over elsewhere. Where the database is
      // away and cannot tell, nothing ends, and nothing is given away.
      await atMost(ANNOUNCE_MS, drainExtensions(host, { type: 'begins' }))
      await atMost(leaseMs, Promise.all([...host.admitting.values()].map(({ over }) => over)))
      await drainSessions(host, { graceMs, settleMs, error: abandoned('shutdown') })
      await recorder.flush()
    },
  }
}

/**
 * Admits a message and starts its reply, joins the one it repeats, or says why not. `parts`: absent when the message is text
 * alone.
 */
async function send(host: Host, record: MessageRecord, parts: NewParts | undefined): Promise<HostSent> {
  if (parts === undefined) return sendReady(host, record)
  const known = await dryRunAdmission(host, record, parts)
  return known ?? sendReady(host, { ...record, extras: { ...record.extras, parts: await parts.store() } })
}

/** Resolves to a join or a refusal, for which no part is needed. Null when the parts are to be fetched and stored. */
async function dryRunAdmission(host: Host, record: MessageRecord, { identities }: NewParts): Promise<HostSent | null> {
  const { message, joinOnly } = record
  const extras = { ...record.extras, parts: identities }
  const looked = await host.options.journal.admit({ ...message, replyId: newId(), mayStart: false, extras })
  if (looked.outcome === 'refused' && joinOnly !== true && refusalOf(host) === null) return null
  if (looked.outcome === 'busy' && message.onBusy !== 'reject') return host.draining ? { outcome: 'draining' } : null
  return answered(host, message.sessionId, looked)
}

async function sendReady(host: Host, record: MessageRecord): Promise<HostSent> {
  const { onBusy, sessionId } = record.message
  const replyId = newId() // of both tries: nothing is stored of a message that was busy
  const first = await admitInPlace(host, record, replyId)
  // The admission's own answer: a message that has waited, and was taken back, is busy for good.
  if (first.outcome !== 'busy') return await answered(host, sessionId, first, replyId)
  // Whatever it was to do when busy: it cannot start here any more, and the running reply has been promised its time.
  if (host.draining) return { outcome: 'draining' }
  if (onBusy !== 'interrupt') return { outcome: 'busy' }
  await cancelAndWait(host, sessionId)
  return await answered(host, sessionId, await admitInPlace(host, record, replyId), replyId)
}

type NotStarted = Exclude<Admission, { outcome: 'admitted' }> | { outcome: NoRoomHere }

/**
 * Admits a message, which counts as a running reply meanwhile. One whose outcome is unknown does until that is known, or a
 * lease has passed.
 */
async function admitInPlace(host: Host, record: MessageRecord, replyId: string): Promise<Started | NotStarted> {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const answer = admitNow(host, record, replyId)
  host.admitting.set(replyId, { over, stopped: null })
  const end = () => {
    host.admitting.delete(replyId)
    resolve()
  }
  let isUnknown = false
  try {
    const admission = await answer
    isUnknown = admission.outcome === 'unknown'
    if (isUnknown) void startLateAdmission(host, record, replyId).finally(end)
    return admission
  } finally {
    if (!isUnknown) end()
  }
}

/** Starts a reply whose client was answered "unknown", if it proves to be stored within one lease. */
async function startLateAdmission(host: Host, record: MessageRecord, replyId: string): Promise<void> {
  const { journal, leaseMs, log } = host.options
  const { message, extras } = record
  const { sessionId } = message
  // Not as a retry: what it would join says nothing of itself.
  const look = () =>
    journal.admit({ ...message, ...{ replyId, isRetry: false, mayStart: false, isLate: true }, extras })
  try {
    const admission = await findAdmitted(look, leaseMs)
    if (admission === null) return
    log.info({ replyId, sessionId }, 'A message whose admission was unknown is stored: its reply begins.')
    startReply(host, record, admission).requesterLost()
  } catch (err) {
    log.error({ err, replyId, sessionId }, 'A reply could not be started.')
  }
}

const isFull = (host: Host): boolean => host.registry.running() + host.admitting.size >= host.options.maxRunning

function refusalOf(host: Host): NoRoomHere | null {
  if (host.draining) return 'draining'
  // A reply that began while the lease is over would be cut by the renewal that is still to come.
  if (!host.options.gate.check()) return 'unavailable'
  return isFull(host) ? 'full' : null
}

async function admitNow(host: Host, record: MessageRecord, replyId: string): Promise<Started | NotStarted> {
  const { message, setup, extras, joinOnly } = record
  const refusal = refusalOf(host)
  const mayStart = joinOnly !== true && refusal === null
  // A message that waits takes no place among the running replies.
  const canWait = joinOnly !== true && host.extensions.some(({ onBusy }) => onBusy !== undefined)
  const mayQueue = canWait && (refusal === 'full' || refusal === null)
  const limits = historyLimits(setup.request.historyMaxTokens ?? host.options.historyMaxTokens)
  const attempt = { replyId, mayStart, mayQueue, title: deriveTitle(message.text), historyLimits: limits }
  const admission = await host.options.journal.admit({ ...message, ...attempt, extras })
  if (admission.outcome === 'admitted') return startReply(host, record, admission)
  // By now the reason may have passed.
  return admission.outcome === 'refused' && refusal !== null ? { outcome: refusal } : admission
}

/** Returns the answer to an admission. `replyId`: of the message itself. Absent when it was only looked at. */
async function answered(
  host: Host,
  sessionId: string,
  admission: Admission | NotStarted | Started,
  replyId?: string,
): Promise<HostSent> {
  if (admission.outcome === 'started') return admission
  if (admission.outcome === 'queued') {
    const waits = host.extensions.find(({ onBusy }) => onBusy !== undefined)
    if (waits?.onBusy === undefined) throw new Error('A message waits that nobody begins.')
    return await waits.onBusy({ ...admission, sessionId }, admission.replyId !== replyId)
  }
  if (admission.outcome === 'joined') {
    const reply = await open(host, admission.replyId)
    return reply ? { outcome: 'joined', reply } : { outcome: 'not_found' }
  }
  if (admission.outcome === 'admitted') throw new Error('A look has admitted a message.')
  if (admission.outcome === 'refused') return { outcome: refusalOf(host) ?? 'full' }
  if (admission.outcome === 'limited' || admission.outcome === 'decided_in_part' || admission.outcome === 'pinned')
    return admission
  return { outcome: admission.outcome === 'fenced' ? 'unavailable' : admission.outcome }
}

/** Finds a reply by its id, wherever it runs or ran. Null when there is none (any more). */
async function open({ byReply, remote }: Host, replyId: string): Promise<Reply | null> {
  const here = byReply.get(replyId)?.reply
  const state = here?.log.state()
  if (here && (state === 'open' || state === 'closed')) return replyOf(here)
  return await remote.open(replyId)
}

/** Takes a slot for a stateless reply of this agent. Returns why there is none. */
function takeSlot(host: Host, agentId: string): Slot | 'full' | 'draining' {
  if (host.draining) return 'draining'
  return isFull(host) ? 'full' : host.slots.take(agentId)
}
