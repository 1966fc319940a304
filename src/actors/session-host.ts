/**
 * Finds or starts a session's actor where a message arrives, forgets it when it rests, ends it when it must. The one
 * door through which everybody else reaches a session.
 */
import { createActor, type InspectionEvent } from 'xstate'
import type { GenerateOptions } from './generate.ts'
import type {
  Journal,
  Model,
  ModelRequest,
  NewMessage,
  OpenToolbox,
  OwnedReplies,
  ReplyInfo,
  RestState,
} from './ports.ts'
import { readStored } from './remote-reply.ts'
import type { Frame, ReplyError } from './reply-event.ts'
import { createReplyLog } from './reply-log.ts'
import { noUsage, type RunningReply, sessionActors } from './session-actors.ts'
import { restingAt, sessionMachine } from './session-machine.ts'
import { createSessionRegistry, isAtRest, isRunning, type LiveSession } from './session-registry.ts'
import type { TransitionRecorder } from './transitions.ts'

/** How long a session without a running reply stays in memory. */
const LINGER_MS = 5000
/** How long cancel and interrupt wait for the reply to settle (contract section 4). */
const SETTLE_WAIT_MS = 2000
const POLL_MS = 100

export interface HostOptions {
  journal: Journal
  model: Model
  recorder: TransitionRecorder
  maxRunning: number
  historyMaxTokens: number
  generationTimeoutMs: number
  /** So long a reply may go without a successful write before its streams close (milliseconds). */
  leaseMs: number
  log: { error(details: object, message: string): void; info(details: object, message: string): void }
}

export interface Message extends Omit<NewMessage, 'mayStart'> {
  request: Omit<ModelRequest, 'messages' | 'tools'>
  openToolbox: OpenToolbox
  onBusy: 'reject' | 'interrupt'
}

/** A reply that can be read from any frame, wherever it runs or ran. */
export interface Reply {
  info: ReplyInfo
  /** Frames after the id `after`, in batches. Rejects with StreamCut when nothing can be stored at the moment. */
  read(after: number, signal: AbortSignal): AsyncGenerator<readonly Frame[], void>
}

export type Sent =
  | { outcome: 'started'; reply: Reply; requesterLost(): void }
  | { outcome: 'joined'; reply: Reply }
  | { outcome: 'busy' | 'key_reused' | 'not_found' | 'full' | 'draining' | 'unavailable' }

/** A stateless reply's place among the running ones. `signal` aborts when the instance stops. */
export interface Slot extends Disposable {
  signal: AbortSignal
}

const failed = (code: ReplyError['code'], message: string) =>
  ({ type: 'failed', error: { code, message, detail: message } }) as const

export const shutdownError = failed('shutdown', 'The instance is shutting down.').error

export type SessionHost = ReturnType<typeof createSessionHost>

export function createSessionHost(options: HostOptions) {
  const { journal, recorder, log } = options
  const registry = createSessionRegistry()
  const byReply = new Map<string, LiveSession>()
  const slots = new Set<AbortController>()
  const admitting = new Set<Promise<unknown>>()
  let draining = false

  const live = (sessionId: string) => registry.getSnapshot().context.live.get(sessionId)
  const running = () => registry.getSnapshot().context.running

  const machine = sessionMachine.provide({
    actors: sessionActors({
      journal,
      running: (replyId) => byReply.get(replyId)?.reply,
      onError: (err, reply) => log.error({ err, replyId: reply.id }, 'A reply met an unexpected error.'),
    }),
  })

  /** Follows the machine: its state, the records of its steps, the end of its reply. */
  function observe(session: LiveSession, event: InspectionEvent): void {
    if (event.type !== '@xstate.snapshot' || event.actorRef !== session.actor) return
    const to = pathOf(session.actor.getSnapshot().value)
    const from = session.state
    if (to === from) return
    const at = new Date()
    Object.assign(session, { state: to, since: at })
    const { info } = session.reply.log
    // Whoever declares a reply lost records it (lose_reply); the owner, once fenced, writes nothing.
    if (event.event.type !== 'lost') {
      const detail = detailOf(session, event.event.type)
      recorder.record({ sessionId: info.sessionId, at, from, to, event: event.event.type, messageId: info.id, detail })
    }
    if (!isRunning(session)) finish(session)
  }

  function finish(session: LiveSession): void {
    if (byReply.delete(session.reply.log.info.id)) registry.trigger.ended()
    session.ended.resolve()
  }

  /** The actor of a session whose newest reply it does not know: that ran elsewhere, or others have ended its own. */
  function makeWay(known: LiveSession): void {
    // Stored, as the newer message proves; only the answer is under way. It closes its log and ends by itself.
    if (known.state === 'streaming.settling') return
    if (isRunning(known)) {
      known.reply.log.cut()
      known.actor.send({ type: 'lost' })
    }
    known.actor.stop()
  }

  function enter(sessionId: string, agentId: string, state: RestState, reply: RunningReply): LiveSession {
    const known = live(sessionId)
    if (known && isAtRest(known, state)) {
      Object.assign(known, { reply, ended: Promise.withResolvers<void>() })
      return known
    }
    if (known) makeWay(known)
    const session: LiveSession = {
      sessionId,
      agentId,
      actor: createActor(machine, { snapshot: restingAt(state) }),
      state,
      since: new Date(),
      reply,
      ended: Promise.withResolvers<void>(),
    }
    session.actor.system.inspect((event) => observe(session, event))
    registry.trigger.entered({ session })
    session.actor.start()
    return session
  }

  function start(
    message: Message,
    admission: { reply: ReplyInfo; position: number; restState: RestState; untitled: boolean },
  ): Sent {
    const { reply: info, position, untitled } = admission
    const generateOptions: GenerateOptions = {
      model: options.model,
      openToolbox: message.openToolbox,
      timeoutMs: options.generationTimeoutMs,
    }
    const reply: RunningReply = {
      log: createReplyLog(info, {
        append: journal.append,
        onRefused: () =>
          byReply.get(info.id)?.actor.send(failed('internal', 'A part of the reply could not be stored.')),
      }),
      position,
      text: message.text,
      untitled,
      request: message.request,
      options: generateOptions,
      historyMaxTokens: options.historyMaxTokens,
      requesterLost: false,
      generation: null,
      usage: noUsage,
      settlingSince: null,
    }
    const session = enter(message.sessionId, message.agentId, admission.restState, reply)
    byReply.set(info.id, session)
    registry.trigger.began()
    session.actor.send({ type: 'message', reply: info })
    return {
      outcome: 'started',
      reply: logReply(reply),
      requesterLost: () => {
        reply.requesterLost = true
      },
    }
  }

  const logReply = ({ log: replyLog }: RunningReply): Reply => ({
    info: replyLog.info,
    read: (after, signal) => replyLog.read(after, signal),
  })

  /** A reply by its id, wherever it runs or ran. Null: there is none (any more). */
  async function open(replyId: string): Promise<Reply | null> {
    const here = byReply.get(replyId)?.reply
    if (here && (here.log.state === 'open' || here.log.state === 'closed')) return logReply(here)
    const first = await journal.read(replyId, 0)
    if (first === null) return null
    return { info: first.info, read: (after, signal) => readStored(journal.read, first, after, signal) }
  }

  // Those that are being admitted count: a burst would pass the limit, and a drain would end before their start.
  async function admit(message: Message): Promise<Sent> {
    const sent = admitNow(message)
    admitting.add(sent)
    return await sent.finally(() => admitting.delete(sent))
  }

  async function admitNow(message: Message): Promise<Sent> {
    const full = running() + admitting.size >= options.maxRunning
    const admission = await journal.admit({ ...message, mayStart: !draining && !full })
    if (admission.outcome === 'admitted') return start(message, admission)
    if (admission.outcome === 'joined') {
      const reply = await open(admission.replyId)
      return reply ? { outcome: 'joined', reply } : { outcome: 'not_found' }
    }
    if (admission.outcome === 'refused') return { outcome: draining ? 'draining' : 'full' }
    return { outcome: admission.outcome === 'fenced' ? 'unavailable' : admission.outcome }
  }

  /** Resolves when the session's running reply is settled, or after 2 s. The intent is written first. */
  async function cancel(sessionId: string): Promise<void> {
    const replyId = await journal.requestCancel(sessionId)
    if (replyId === null) return
    const here = byReply.get(replyId)
    here?.actor.send({ type: 'cancel' })
    const waited = new AbortController()
    const deadline = setTimeout(() => waited.abort(), SETTLE_WAIT_MS)
    try {
      if (here) await Promise.race([here.ended.promise, aborted(waited.signal)])
      else while (!waited.signal.aborted && (await journal.isRunning(replyId))) await pause(POLL_MS)
    } finally {
      clearTimeout(deadline)
      waited.abort()
    }
  }

  /** The session is gone: its actor stops, its streams end with `session_deleted`. */
  function forget(sessionId: string): void {
    const session = live(sessionId)
    if (!session) return
    session.actor.stop()
    session.reply.log.drop()
    registry.trigger.left({ session })
    finish(session)
  }

  /** Closes streams whose reply has not been stored for a lease; lets go of sessions that rest. Call it often. */
  function tick(): void {
    const now = performance.now()
    for (const session of registry.getSnapshot().context.live.values()) {
      if (!isRunning(session)) {
        if (Date.now() - session.since.getTime() > LINGER_MS) {
          session.actor.stop()
          registry.trigger.left({ session })
        }
        continue
      }
      const { reply } = session
      const waitingSince = reply.log.unstoredSince ?? reply.settlingSince
      if (waitingSince !== null && now - waitingSince > options.leaseMs && reply.log.state === 'open') {
        reply.requesterLost = true
        reply.log.cut()
        session.actor.send(failed('internal', 'The reply could not be stored in time.'))
      }
    }
  }

  const owned: OwnedReplies = {
    running: () => new Set(byReply.keys()),
    obey(intent) {
      if (intent.kind === 'delete') forget(intent.sessionId)
      else if (intent.replyId !== null) byReply.get(intent.replyId)?.actor.send({ type: 'cancel' })
    },
    fenced(epoch) {
      for (const session of [...byReply.values()]) {
        if (session.reply.log.info.epoch > epoch) continue
        session.reply.log.cut()
        session.actor.send({ type: 'lost' })
      }
    },
    async settleStray(reply) {
      const { error } = failed('internal', 'The reply was abandoned.')
      const usage = { promptTokens: 0, completionTokens: 0, estimated: true }
      const outcome = { type: 'failed', error, usage } as const
      await journal.settle(reply, { outcome, endedAt: new Date(), requesterLost: true, title: null })
    },
    dropStray(replyId) {
      const session = byReply.get(replyId)
      session?.reply.log.cut()
      session?.actor.send({ type: 'lost' })
    },
  }

  return {
    registry,
    owned,
    open,
    cancel,
    forget,
    tick,
    get draining() {
      return draining
    },
    /** Admits a message and starts its reply, joins the one it repeats, or says why not. */
    async send(message: Message): Promise<Sent> {
      const sent = await admit(message)
      if (sent.outcome !== 'busy' || message.onBusy === 'reject') return sent
      // It would be refused behind the cancel, and the running reply has been promised its time.
      if (draining) return { outcome: 'draining' }
      await cancel(message.sessionId)
      return admit(message)
    },
    /** A place for a stateless reply, to be disposed of at its end. */
    takeSlot(): Slot | 'full' | 'draining' {
      if (draining) return 'draining'
      if (running() >= options.maxRunning) return 'full'
      const controller = new AbortController()
      slots.add(controller)
      registry.trigger.began()
      return {
        signal: controller.signal,
        [Symbol.dispose]() {
          if (slots.delete(controller)) registry.trigger.ended()
        },
      }
    },
    /** Sessions of an agent that live here, for deleting it. */
    sessionsOf: (agentId: string): string[] =>
      [...registry.getSnapshot().context.live.values()].filter((s) => s.agentId === agentId).map((s) => s.sessionId),
    /** Takes no new replies; running ones may finish for `graceMs`, the rest end as `shutdown`. */
    async drain(graceMs: number, settleMs: number): Promise<void> {
      draining = true
      await Promise.allSettled(admitting)
      await untilQuiet(registry, graceMs)
      if (running() > 0) log.info({ running: running() }, 'Ending the replies that still run.')
      for (const session of byReply.values()) session.actor.send({ type: 'failed', error: shutdownError })
      for (const slot of slots) slot.abort()
      await untilQuiet(registry, settleMs)
      await recorder.flush()
      for (const session of registry.getSnapshot().context.live.values()) session.actor.stop()
    },
  }
}

/** `{streaming: 'generating'}` → `streaming.generating`. */
export function pathOf(value: string | Record<string, unknown>): string {
  if (typeof value === 'string') return value
  return Object.entries(value)
    .map(([parent, child]) => (typeof child === 'string' ? `${parent}.${child}` : parent))
    .join()
}

function detailOf(session: LiveSession, event: string): Record<string, string | number | boolean> {
  const { ending } = session.actor.getSnapshot().context
  if (event === 'failed' && ending?.type === 'failed') return { code: ending.error.code }
  if (event === 'finished' && ending?.type === 'finished') return { finishReason: ending.reason }
  if (event !== 'settled') return {}
  const { usage, requesterLost } = session.reply
  return { promptTokens: usage.promptTokens, completionTokens: usage.completionTokens, requesterLost }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

/** Resolves when no reply runs, or after `ms`. */
function untilQuiet(registry: ReturnType<typeof createSessionRegistry>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      subscription.unsubscribe()
      resolve()
    }
    const timer = setTimeout(done, ms)
    const subscription = registry.subscribe(({ context }) => {
      if (context.running === 0) done()
    })
    if (registry.getSnapshot().context.running === 0) done()
  })
}
