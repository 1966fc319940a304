/**
 * The one door through which everybody else reaches a session: messages in, replies out, wherever they run or ran.
 */
import { v7 as uuidv7 } from 'uuid'
import { type Admitted, findAdmitted } from './admission.ts'
import { drainSessions } from './drain.ts'
import { type Reply, StreamCut } from './frame-log.ts'
import type { LeaseGate } from './lease-gate.ts'
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
import { type Observer, type Origin, unobserved } from './observer.ts'
import { ownedReplies } from './owned-replies.ts'
import type { Exchange, Journal, Model, ModelRequest, NewMessage, OpenToolbox } from './ports.ts'
import { createRemoteReplies, type RemoteReplies } from './remote-reply.ts'
import { createReplyLog } from './reply-log.ts'
import { noUsage, type RunningReply } from './session-actors.ts'
import type { Slot } from './slots.ts'
import type { TransitionRecorder } from './transitions.ts'

/** How long cancel and interrupt wait for the reply to settle (contract section 4). */
const SETTLE_WAIT_MS = 2000

export interface HostOptions {
  journal: Journal
  exchange: Exchange
  model: Model
  /** Of this instance's own lease. */
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
  /** Absent: nobody measures. */
  observer?: Observer
  log: Record<'error' | 'warn' | 'info', (details: object, message: string) => void>
}

export interface Message extends Omit<NewMessage, 'replyId' | 'mayStart'> {
  request: Omit<ModelRequest, 'messages' | 'tools'>
  openToolbox: OpenToolbox
  onBusy: 'reject' | 'interrupt'
  /** It cannot start a reply, only join the one that it repeats. */
  joinOnly?: boolean
  agentName: string
  /** The request. Null: none. */
  origin: Origin | null
}

interface Started {
  outcome: 'started'
  reply: Reply
  /** To be called when the client has gone before the end. */
  requesterLost(): void
}

export type Sent = Started | { outcome: 'joined'; reply: Reply } | { outcome: Refusal }

/**
 * `stale`: the configuration has changed since; with the agent as it is now the message may be sent again. `unknown`: it
 * may be stored all the same. `revoked`: the client secret that was to make the session. Nothing is stored of any other.
 */
export type Refusal =
  | 'busy'
  | 'key_reused'
  | 'not_found'
  | 'full'
  | 'draining'
  | 'unavailable'
  | 'stale'
  | 'unknown'
  | 'revoked'

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
    remote: createRemoteReplies({ read: (id, after) => journal.read(id, after), exchange, waitLimitMs: leaseMs }),
  }
  return {
    registry: host.registry,
    owned: ownedReplies(host, host.remote, { journal, gate: options.gate, log }),
    draining: () => host.draining,
    /** Replies that run here, stateless ones included. */
    running: host.registry.running,
    send: (message: Message) => send(host, message),
    open: (replyId: string) => open(host, replyId),
    cancel: (sessionId: string) => cancel(host, sessionId),
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
async function send(host: Host, message: Message): Promise<Sent> {
  const sent = await admit(host, message)
  if (sent.outcome !== 'busy') return sent
  // Whatever it was to do when busy: it cannot start here any more, and the running reply has been promised its time.
  if (host.draining) return { outcome: 'draining' }
  if (message.onBusy === 'reject') return sent
  await cancel(host, message.sessionId)
  return admit(host, message)
}

/** One whose outcome is unknown keeps its place among the running replies until it is known, or a lease has passed. */
async function admit(host: Host, message: Message): Promise<Sent> {
  const wanted = { ...message, replyId: uuidv7() }
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
async function beginLate(host: Host, message: Message & { replyId: string }): Promise<void> {
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
    log.error({ err, replyId, sessionId }, 'A reply could not be begun.')
  }
}

const isFull = (host: Host): boolean => host.registry.running() + host.admitting.size >= host.options.maxRunning

async function admitNow(host: Host, message: Message & { replyId: string }): Promise<Sent> {
  // A reply that began while the lease is over would be cut by the renewal that is still to come.
  const isLeased = host.options.gate.check()
  const mayStart = message.joinOnly !== true && !host.draining && !isFull(host) && isLeased
  const admission = await host.options.journal.admit({ ...message, mayStart })
  if (admission.outcome === 'admitted') return start(host, message, admission)
  if (admission.outcome === 'joined') {
    const reply = await open(host, admission.replyId)
    return reply ? { outcome: 'joined', reply } : { outcome: 'not_found' }
  }
  if (admission.outcome === 'refused') {
    return { outcome: host.draining ? 'draining' : isLeased ? 'full' : 'unavailable' }
  }
  return { outcome: admission.outcome === 'fenced' ? 'unavailable' : admission.outcome }
}

function start(host: Host, message: Message, admission: Admitted): Started {
  const { journal, exchange, model, gate, generationTimeoutMs, historyMaxTokens } = host.options
  const { reply: info, position, restState, titleFrom } = admission
  const observer = observe(host, info.id, message)
  const error = errorOf('internal', 'A part of the reply could not be stored.')
  const reply: RunningReply = {
    log: createReplyLog(info, {
      append: journal.append,
      onStored: (after, events) => exchange.stored(info.id, after, events),
      onRefused() {
        reply.notStored = true
        host.byReply.get(info.id)?.actor.send({ type: 'failed', error })
      },
    }),
    position,
    text: message.text,
    titleFrom,
    request: message.request,
    options: {
      replyId: info.id,
      model,
      openToolbox: message.openToolbox,
      timeoutMs: generationTimeoutMs,
      gate,
      observer,
    },
    historyMaxTokens,
    requesterLost: false,
    generation: null,
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
  return { outcome: 'started', reply: replyOf(reply), requesterLost }
}

const observe = ({ options }: Host, id: string, message: Message) =>
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
  }) ?? unobserved

const replyOf = ({ log }: RunningReply): Reply => ({ info: log.info, read: log.read })

/** A reply by its id, wherever it runs or ran. Null: there is none (any more). */
async function open({ byReply, remote }: Host, replyId: string): Promise<Reply | null> {
  const here = byReply.get(replyId)?.reply
  const state = here?.log.state()
  if (here && (state === 'open' || state === 'closed')) return replyOf(here)
  return await remote.open(replyId)
}

/** Resolves when the session's running reply is settled, or after 2 s. The intent is written first. */
async function cancel(host: Host, sessionId: string): Promise<void> {
  const { journal, exchange } = host.options
  const asked = await journal.requestCancel(sessionId)
  if (asked === null) return
  const here = host.byReply.get(asked.replyId)
  cancelReply(host, asked.replyId)
  if (!here) exchange.wake([asked.instanceId])
  const late = new AbortController()
  const deadline = setTimeout(() => late.abort(), SETTLE_WAIT_MS)
  try {
    const isLate = new Promise((resolve) => late.signal.addEventListener('abort', resolve))
    await Promise.race([here ? here.ended.promise : endOf(host, asked.replyId, late.signal), isLate])
  } finally {
    clearTimeout(deadline)
    late.abort()
  }
}

/** Resolves when a reply that runs elsewhere has ended, or cannot be followed at the moment. */
async function endOf({ remote }: Host, replyId: string, signal: AbortSignal): Promise<void> {
  const reply = await remote.open(replyId)
  try {
    await reply?.read(Number.MAX_SAFE_INTEGER, signal, () => undefined)
  } catch (error) {
    if (!(error instanceof StreamCut)) throw error
  }
}

/** A place for a stateless reply of this agent, or why there is none. */
function takeSlot(host: Host, agentId: string): Slot | 'full' | 'draining' {
  if (host.draining) return 'draining'
  return isFull(host) ? 'full' : host.slots.take(agentId)
}
