/**
 * The only interface to sessions for the other modules: messages in, replies out, wherever they run or ran.
 */

import { promptToSend } from '../../templates/prompt-template.ts'
import { type CompactionOrder, compactSession } from '../compaction/compact-session.ts'
import type { LeaseGate } from '../generate/gate.ts'
import { noActions, nothingInForce } from '../generate/waiting-calls.ts'
import { deriveTitle } from '../history/title.ts'
import type { Admission, Admitted, Counts, Exchange, Journal, Model, NewParts } from '../ports/index.ts'
import { type Observer, unobserved } from '../ports/observer.ts'
import type { Reply } from '../reply/frame-log.ts'
import { newId } from '../reply/new-id.ts'
import { createRemoteReplies, type RemoteReplies } from '../reply/remote-reply.ts'
import { createReplyLog } from '../reply/reply-log.ts'
import { noUsage } from './actors.ts'
import { cancelAndWait } from './cancel.ts'
import { drainSessions } from './drain.ts'
import {
  beginReply,
  cancelReply,
  checkSessions,
  createLiveSessions,
  errorOf,
  forgetAgent,
  forgetSession,
  type LiveSessions,
} from './live-sessions.ts'
import { ownedReplies } from './owned.ts'
import { findAdmitted } from './recover-admission.ts'
import type { RunningReply } from './running-reply.ts'
import type { HostSent, Message, ReadyMessage, Started } from './send.ts'
import type { Slot } from './slots.ts'
import type { TransitionRecorder } from './transitions.ts'

export interface HostOptions {
  journal: Journal
  exchange: Exchange
  model: Model
  /** Checks this instance's own lease. */
  gate: LeaseGate
  recorder: TransitionRecorder
  maxRunning: number
  historyMaxTokens: number
  generationTimeoutMs: number
  /**
   * So long a reply may go without a successful write before its streams close, and so long an admission of unknown
   * outcome is asked about (milliseconds).
   */
  leaseMs: number
  /** When absent, nothing is measured. */
  observer?: Observer
  log: Record<'error' | 'warn' | 'info', (details: object, message: string) => void>
}

export type { HostSent, Limited, Message, MessageRecord, Refusal, Sent } from './send.ts'

const shutdownError = errorOf('shutdown', 'The instance is shutting down.')

interface Host extends LiveSessions {
  options: HostOptions
  remote: RemoteReplies
  draining: boolean
}

export type SessionHost = ReturnType<typeof createSessionHost>

export function createSessionHost(options: HostOptions) {
  const { journal, exchange, leaseMs, recorder, log } = options
  const host: Host = {
    ...createLiveSessions({ journal, exchange, recorder, log }),
    options,
    draining: false,
    remote: createRemoteReplies({ read: (...asked) => journal.read(...asked), exchange, waitLimitMs: leaseMs }),
  }
  return {
    registry: host.registry,
    owned: ownedReplies(host, host.remote, { journal, gate: options.gate, log }),
    draining: () => host.draining,
    /** Replies that run here, stateless ones included. */
    running: host.registry.running,
    send: (message: Message) => send(host, message),
    open: (replyId: string) => open(host, replyId),
    cancel: (sessionId: string) => cancelAndWait(host, sessionId),
    /** Has a session's path summarised now. */
    compact: (order: CompactionOrder) => compact(host, order),
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
      await Promise.all([...host.admitting.values()].map(({ over }) => over))
      await drainSessions(host, { graceMs, settleMs, error: shutdownError, log })
      await recorder.flush()
    },
  }
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
  const interrupts = message.onBusy === 'interrupt'
  const look = { ...message, parts: identities, replyId: newId(), mayStart: false, interrupts }
  const looked = await host.options.journal.admit(look)
  if (looked.outcome === 'refused' && message.joinOnly !== true && refusalOf(host) === null) return null
  if (looked.outcome === 'busy' && message.onBusy === 'interrupt' && !host.draining) return null
  return answered(host, looked)
}

async function sendReady(host: Host, message: ReadyMessage): Promise<HostSent> {
  const sent = await admit(host, message)
  if (sent.outcome !== 'busy') return sent
  // Whatever it was to do when busy: it cannot start here any more, and the running reply has been promised its time.
  if (host.draining) return { outcome: 'draining' }
  if (message.onBusy === 'reject') return sent
  await cancelAndWait(host, message.sessionId)
  return admit(host, message)
}

/** One whose outcome is unknown keeps its place among the running replies until it is known, or a lease has passed. */
async function admit(host: Host, message: ReadyMessage): Promise<HostSent> {
  const wanted = { ...message, replyId: newId() }
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const answer = admitNow(host, wanted)
  host.admitting.set(wanted.replyId, { over, cancelled: false })
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
    start(host, message, admission).requesterLost()
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
  const interrupts = message.onBusy === 'interrupt'
  const title = deriveTitle(message.text)
  const admission = await host.options.journal.admit({ ...message, mayStart, interrupts, title })
  return admission.outcome === 'admitted' ? start(host, message, admission) : answered(host, admission)
}

async function answered(host: Host, admission: Admission): Promise<HostSent> {
  if (admission.outcome === 'joined') {
    const reply = await open(host, admission.replyId)
    return reply ? { outcome: 'joined', reply } : { outcome: 'not_found' }
  }
  if (admission.outcome === 'admitted') throw new Error('A look has admitted a message.')
  if (admission.outcome === 'refused') return { outcome: refusalOf(host) ?? 'full' }
  if (admission.outcome === 'limited') return admission
  return { outcome: admission.outcome === 'fenced' ? 'unavailable' : admission.outcome }
}

function start(host: Host, message: ReadyMessage, admission: Admitted): Started {
  const { journal, exchange, model, gate, generationTimeoutMs, historyMaxTokens } = host.options
  const { reply: info, restState, text, parentId, historyEnd, titleFrom } = admission
  const { carried, decided, inForce = nothingInForce, actions = noActions, by = null } = message
  const continued =
    carried && decided ? { chain: carried.chain, firstId: carried.firstId, decisions: decided.calls, by } : null
  const values = { user: null, metadata: {}, ...admission.values, sessionId: info.sessionId, at: info.createdAt }
  const observer = observe(host, info.id, message, values.user)
  const error = errorOf('internal', 'A part of the reply could not be stored.')
  const reply: RunningReply = {
    log: createReplyLog(info, {
      append: journal.append,
      withdraw: journal.withdraw,
      onStored: (after, events) => exchange.stored(info.id, after, events),
      onRefused() {
        reply.notStored = true
        host.byReply.get(info.id)?.actor.send({ type: 'failed', error })
      },
    }),
    text,
    parts: message.parts,
    parentId,
    isRegenerated: message.place !== undefined && 'regenerate' in message.place,
    historyEnd,
    continued,
    inForce,
    titleFrom,
    request: { ...message.request, system: promptToSend(message.request.system, values, message.instructions ?? null) },
    options: {
      replyId: info.id,
      model,
      openToolbox: (signal) => message.openToolbox(signal, values),
      actions: { ...actions, ...(continued && { continued }) },
      timeoutMs: generationTimeoutMs,
      gate,
      observer,
    },
    historyMaxTokens,
    requesterLost: false,
    generation: null,
    admittedAt: performance.now(),
    usage: noUsage,
    settlingSince: null,
    observer,
    end: { outcome: 'lost', error: null },
    notStored: false,
  }
  beginReply(host, message.agentId, restState, reply)
  if (host.admitting.get(info.id)?.cancelled) cancelReply(host, info.id)
  const requesterLost = () => {
    reply.requesterLost = true
  }
  return { outcome: 'started', reply: replyOf(reply), requesterLost, rate: admission.rate }
}

const observe = ({ options }: Host, id: string, message: ReadyMessage, user: string | null) =>
  options.observer?.begin({
    id,
    purpose: 'reply',
    sessionId: message.sessionId,
    agentId: message.agentId,
    agentName: message.agentName,
    model: message.model,
    providerId: message.request.provider.id,
    providerType: message.request.provider.type,
    config: message.request.config,
    origin: message.origin,
    countsFor: countsFor(message.facts?.counts, user),
    decided: message.carried && { by: message.by ?? null, waitedMs: message.waitedMs ?? 0 },
  }) ?? unobserved

const countsFor = (counts: Counts | undefined, user: string | null) =>
  counts && { key: counts.key ?? null, user: counts.user ? user : null }

const replyOf = ({ log }: RunningReply): Reply => ({ info: log.info, read: log.read })

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

/** A place for a stateless reply of this agent, or why there is none. */
function takeSlot(host: Host, agentId: string): Slot | 'full' | 'draining' {
  if (host.draining) return 'draining'
  return isFull(host) ? 'full' : host.slots.take(agentId)
}
