/**
 * Summaries that no reply waits for (contract section 19). Their session is held as by a reply, in the database; what runs is
 * a step of its machine like any. The hold ends with this instance's epoch, so that a lost instance leaves nothing.
 */
import { createActor } from 'xstate'
import { createGeneration } from '../../actors/generate/generate.ts'
import type { Compaction } from '../../actors/generate/running.ts'
import type { Conversation, Told } from '../../actors/history/conversation.ts'
import { historyLimits, storedConversation } from '../../actors/history/history.ts'
import type { History } from '../../actors/ports/history.ts'
import type { CountsFor } from '../../actors/ports/limits.ts'
import { type ObservedOutcome, type ReplyObserver, unobserved } from '../../actors/ports/observer.ts'
import { errorOf } from '../../actors/reply/reply-event.ts'
import type { Host } from '../../actors/session/host.ts'
import { pathOf, startingAt } from '../../actors/session/machine.ts'
import type { Holding, Stopped } from '../../actors/session/registry.ts'
import type { ReplySetup } from '../../actors/session/send.ts'
import type { SessionEvent } from '../../actors/session/session-event.ts'
import type { ReplyValues } from '../../templates/placeholders.ts'
import { promptToSend } from '../../templates/prompt-template.ts'
import { createSummariser, type Made, type Summarised } from './compaction.ts'
import type { HeldSession, Holds, Summaries } from './store/checkpoints.ts'

/** Returns a stored conversation to which nothing is added. */
export const restingConversation = (stored: History): Conversation => ({
  ...storedConversation(stored, stored.messages, { content: '', parts: [] }, false),
  newest: [],
})

/** A summary to make. `sessionId`: null where the conversation is stored nowhere. */
export interface SummaryOrder extends Pick<ReplySetup, 'agentName' | 'request' | 'openToolbox' | 'origin'> {
  /** The name of the hold, and then of the checkpoint. */
  id: string
  agentId: string
  sessionId: string | null
  values: ReplyValues
  /** The text that follows the agent's prompt. Null when the request brings none. */
  appended: string | null
  /** The names of those whose limits its use counts for. When absent, it counts for nobody's. */
  countsFor?: CountsFor | undefined
  /**
   * Calls `work` in the places that the summary takes of its caller's limits, with the observer that `begin` makes. Rejects
   * where it is over them.
   */
  inPlaces<T>(begin: () => ReplyObserver, work: (observer: ReplyObserver) => Promise<T>): Promise<T>
}

export type CompactionOrder = SummaryOrder & { sessionId: string }

type Refused =
  | { outcome: 'nothing' | NonNullable<ReturnType<Host['refusal']>> }
  | { outcome: 'failed'; message: string }

export type Summed = { outcome: 'summarised'; made: Made } | Refused

/** `id`: of the checkpoint. `nothing`: there is nothing to summarise. `busy`: the session cannot be held. */
export type Compacted = { outcome: 'compacted'; id: string } | { outcome: 'busy' | 'deleted' } | Refused

export interface Compactions {
  /** Has a session's path summarised now. */
  compact(order: CompactionOrder): Promise<Compacted>
  /** Has a conversation summarised that is stored nowhere. */
  summarise(order: SummaryOrder, conversation: Conversation): Promise<Summed>
  /** Releases sessions that a late call holds. Call it now and again. */
  tend(): Promise<void>
}

export const createCompactions = (host: Host, holds: Holds & Summaries): Compactions => ({
  async compact(order) {
    const refusal = host.refusal()
    return refusal === null ? await compactSession(host, holds, order) : { outcome: refusal }
  },
  async summarise(order, conversation) {
    const refusal = host.refusal()
    return refusal === null ? await summariseGiven(host, order, conversation) : { outcome: refusal }
  },
  async tend() {
    const begun = await holds.releaseLate((hold) => host.held.has(hold))
    for (const next of begun) host.ended(next)
  },
})

/**
 * Summarises a conversation that is stored nowhere. Like a stateless reply it counts as a running one: a drain waits for it,
 * then ends it, as the deletion of its agent does.
 */
async function summariseGiven(host: Host, order: SummaryOrder, conversation: Conversation): Promise<Summed> {
  if (conversation.turns.length === 0) return { outcome: 'nothing' }
  using slot = host.slots.take(order.agentId)
  try {
    const made = await ask(host, order, conversation, { hold: order.id, signal: slot.signal })
    return 'failed' in made ? { outcome: 'failed', message: made.failed } : { outcome: 'summarised', made }
  } catch (error) {
    const end = slot.error()
    if (end === null) throw error
    return { outcome: 'failed', message: end.message }
  }
}

const lost: Compacted = { outcome: 'failed', message: 'The instance that made the summary was lost.' }

const afterStop = {
  cancelled: { outcome: 'failed', message: 'The compaction was cancelled.' },
  deleted: { outcome: 'deleted' },
  lost,
} satisfies Record<Stopped, Compacted>

interface Place {
  sessionId: string
  epoch: number
  hold: string
  released: Promise<void>
}

/** Holds the session, has its path summarised, and stores the summary. */
async function compactSession(host: Host, holds: Holds & Summaries, order: CompactionOrder): Promise<Compacted> {
  const { sessionId, id: hold } = order
  const place = { sessionId, epoch: host.options.journal.epoch() }
  const { promise: released, resolve } = Promise.withResolvers<void>()
  try {
    return await holdAndCompact(host, holds, order, { ...place, hold, released })
  } finally {
    try {
      const next = await holds.release(place, hold)
      host.ended(next)
    } finally {
      // A message that has ended it goes on only now: before, the session is held.
      host.held.delete(hold)
      resolve()
    }
  }
}

type Held = HeldSession & Place

/**
 * Holds the session, and summarises it. A compaction counts as a running reply: a drain waits for it, then ends it, as
 * the deletion of its agent does.
 */
async function holdAndCompact(
  host: Host,
  holds: Holds & Summaries,
  order: CompactionOrder,
  place: Place,
): Promise<Compacted> {
  const { agentId, sessionId } = order
  const { hold, epoch, released } = place
  using slot = host.slots.take(agentId)
  const stopping = new AbortController()
  let why: Stopped | null = null
  const stop = (reason: Stopped) => {
    why ??= reason
    stopping.abort()
  }
  const state = 'streaming.compacting'
  const running: Holding = { sessionId, agentId, state, since: new Date(), epoch, stop, released }
  // Others see that the session is held before we have the answer: what they ask of it must find it.
  host.held.set(hold, running)
  const session = await holds.hold({ agentId, sessionId, hold }, epoch)
  if (why !== null) return afterStop[why]
  if (session === null) return { outcome: 'busy' }
  const held = { ...place, ...session }
  const shown = show(host, running, held)
  try {
    return await summarise(host, holds, order, { ...held, signal: AbortSignal.any([slot.signal, stopping.signal]) })
  } catch (error) {
    if (why !== null) return afterStop[why]
    const end = slot.error()
    if (end === null) throw error
    return end.code === 'session_deleted' ? afterStop.deleted : { outcome: 'failed', message: end.message }
  } finally {
    shown.over(why === null || why === 'cancelled')
  }
}

/** Runs the session's machine beside the work, for those who look at it, and for its record. */
function show({ machine, recorder }: Host, running: Holding, { sessionId, rest }: Held) {
  const actor = createActor(machine, { snapshot: startingAt(rest) }).start()
  const step = (event: SessionEvent) => {
    const from = pathOf(actor.getSnapshot().value)
    actor.send(event)
    const [to, at] = [pathOf(actor.getSnapshot().value), new Date()]
    Object.assign(running, { state: to, since: at })
    recorder.record({ sessionId, at, from, to, event: event.type, messageId: null, detail: {} })
  }
  step({ type: 'compact', rest })
  return {
    /** Ends the step. `isOurs`: the session is there, and this instance may write of it. */
    over(isOurs: boolean): void {
      if (isOurs) step({ type: 'compacted' })
      actor.stop()
    },
  }
}

/** Rejects when `signal` aborts. */
async function summarise(
  host: Host,
  summaries: Summaries,
  order: CompactionOrder,
  held: Held & { signal: AbortSignal },
): Promise<Compacted> {
  const { sessionId, epoch, historyEnd, hold, signal } = held
  signal.throwIfAborted()
  const { journal, historyMaxTokens } = host.options
  const limits = historyLimits(order.request.historyMaxTokens ?? historyMaxTokens)
  const stored = historyEnd < 0 ? null : await journal.history(sessionId, historyEnd, limits)
  if (stored === null || stored.messages.length === 0) return { outcome: 'nothing' }
  const made = await ask(host, order, restingConversation(stored), { hold, signal })
  if ('failed' in made) return { outcome: 'failed', message: made.failed }
  const { text: summary, position, model, usage } = made
  const kept = await summaries.keepCheckpoint({ sessionId, epoch, hold }, { id: hold, position, summary, model, usage })
  return kept === 'stored' ? { outcome: 'compacted', id: hold } : lost
}

/** Returns a model call that is observed as one of its own, and counted so: for its caller. */
async function ask(
  host: Host,
  order: SummaryOrder,
  conversation: Conversation,
  held: { hold: string; signal: AbortSignal },
): Promise<Summarised> {
  const { request, agentId, agentName, sessionId, origin, countsFor } = order
  const { model: name, config, provider } = request
  const { id: providerId, type: providerType } = provider
  const about = { id: held.hold, sessionId, agentId, agentName, model: name, providerId, providerType, config, origin }
  const begin = () => host.options.observer?.begin({ ...about, purpose: 'summary', countsFor }) ?? unobserved
  return await order.inPlaces(begin, (observer) => askObserved(host, order, conversation, { ...held, observer }))
}

async function askObserved(
  { options }: Host,
  order: SummaryOrder,
  conversation: Conversation,
  { hold, signal, observer }: { hold: string; signal: AbortSignal; observer: ReplyObserver },
): Promise<Summarised> {
  const { request, values, appended } = order
  let made: Summarised = { failed: 'It was ended.' }
  const compaction = (told: Told | null): Compaction => {
    const { ask, goOn: _, ...summariser } = createSummariser(told)
    const run: Compaction['run'] = async (running) => {
      made = await ask(running)
      return 'compacted'
    }
    return { ...summariser, run }
  }
  const generation = createGeneration(
    { ...request, system: promptToSend(request.system, values, appended), messages: [] },
    {
      replyId: hold,
      model: options.model,
      openToolbox: (stopped) => order.openToolbox(stopped, values),
      timeoutMs: options.generationTimeoutMs,
      gate: options.gate,
      observer,
      compaction,
      told: { conversation, maxTokens: Number.POSITIVE_INFINITY },
    },
  )
  const end = async (outcome: ObservedOutcome, failed: string | null) =>
    observer.on({
      type: 'ended',
      outcome,
      usage: await generation.usage(),
      error: failed === null ? null : errorOf('internal', failed),
    })
  try {
    const ended = await generation.compact(signal)
    signal.throwIfAborted()
    if (typeof ended !== 'string' && ended.type === 'failed') made = { failed: ended.error.message }
    await ('failed' in made ? end('internal', made.failed) : end('stop', null))
    return made
  } catch (error) {
    await end(signal.aborted ? 'cancelled' : 'internal', null)
    throw error
  }
}
