/**
 * The actors and actions of the session machine, made of the ports: generating, settling, and the ends of a reply's
 * log.
 */
import { assertEvent, fromCallback } from 'xstate'
import { type Ending, isNotStored, replyEnded, unstored } from '../generate/endings.ts'
import { createGeneration, type Generation } from '../generate/generate.ts'
import type { Resumption } from '../generate/running.ts'
import type { Conversation } from '../history/conversation.ts'
import { historyLimits, storedConversation } from '../history/history.ts'
import { deriveTitle } from '../history/title.ts'
import type {
  History,
  HistoryLimits,
  Journal,
  ReplyFigures,
  ReplyInfo,
  Settled,
  Settlement,
  Take,
  TransitionRecorder,
} from '../ports/index.ts'
import { noUsage, type Outcome, type ReplyEvent, restStateOf, type Usage } from '../reply/reply-event.ts'
import { type RunningReply, replyIn, type SessionContext, waitingOf } from './running-reply.ts'
import type { CompactInput, GenerateInput, SessionEvent, SettleInput } from './session-event.ts'

export interface SessionActorPorts {
  journal: Journal
  recorder: Pick<TransitionRecorder, 'settle'>
  onError(error: unknown, reply: ReplyInfo): void
}

const failure = (message: string, error: unknown): SessionEvent => ({
  type: 'failed',
  error: { code: 'internal', message, detail: `${message} ${error}` },
})

/** Reads the generation into the log, as fast as the log can be stored. */
async function generate(running: RunningReply, signal: AbortSignal, journal: Journal): Promise<SessionEvent> {
  const { log, refusal } = running
  if (refusal !== null) return { type: 'failed', error: refusal }
  running.generation ??= await generationOf(running, journal)
  const take: Take<ReplyEvent> = (events) => {
    if (signal.aborted) return undefined
    log.push(events)
    return log.room()
  }
  const ending = await running.generation.runUnlessLong(signal, take, async () => (await log.stored()) === 'stored')
  return ending === 'compact' ? { type: 'compact', rest: null } : endingOf(running, ending)
}

async function generationOf(running: RunningReply, journal: Journal): Promise<Generation> {
  const { request, historyMaxTokens } = running
  const maxTokens = request.historyMaxTokens ?? historyMaxTokens
  const limits = { ...historyLimits(maxTokens), ...(running.timeMark !== null && { withTimes: true as const }) }
  const conversation = await conversationOf(running, journal, limits)
  const told = { conversation, maxTokens, compacts: request.compacts === true }
  return createGeneration({ ...request, messages: [] }, { ...running.options, told })
}

function endingOf(running: RunningReply, ending: Ending): SessionEvent {
  if (isNotStored(ending)) running.notStored = true
  return ending.type === 'finished' && ending.reason === 'steered' ? { type: 'steered' } : ending
}

/** Has older turns summarised. Resolves once the summary is stored, or there is none. */
async function compact(running: RunningReply, signal: AbortSignal): Promise<SessionEvent> {
  const { log, generation } = running
  if (generation === null) throw new Error('Nothing was generated of a reply whose history is to be summarised.')
  const done = await generation.compact(signal, async () => (await log.stored()) === 'stored')
  if (done === 'compacted') return { type: 'compacted' }
  return done === 'fenced' ? { type: 'lost' } : endingOf(running, done)
}

/** Returns the conversation up to the user's message that is answered. */
async function conversationOf(running: RunningReply, journal: Journal, limits: HistoryLimits): Promise<Conversation> {
  const { log, text, continued, timeMark } = running
  if (continued === null) {
    const earlier = await earlierOf(running, journal, limits)
    const { isRegenerated, parentId } = running
    const parts = isRegenerated && parentId !== null ? await journal.parts(parentId) : running.parts
    return storedConversation(earlier, earlier.messages, { content: text, parts }, false, timeMark)
  }
  const stored = await journal.history(log.info.sessionId, { answeredBy: continued.firstId }, limits)
  const { content = '', parts = [] } = stored.messages.at(-1) ?? {}
  return storedConversation(stored, stored.messages.slice(0, -1), { content, parts }, true, timeMark)
}

/** Returns the history before the message that is answered. */
async function earlierOf(running: RunningReply, journal: Journal, limits: HistoryLimits): Promise<History> {
  const { historyEnd, history, log } = running
  if (historyEnd < 0) return { messages: [], isWhole: true, checkpoint: null, before: null }
  running.history = null
  const given = limits.withTimes ? undefined : history?.() // without times
  return given ?? (await journal.history(log.info.sessionId, historyEnd, limits))
}

/** Returns the outcome to store; `calls` are the pending calls that clients see. */
export function outcomeOf(ending: Ending, usage: Usage): Outcome {
  if (ending.type === 'failed') return { ...ending, usage }
  const { type, reason, wait } = ending
  return { type, reason, usage, ...(wait && wait.shown.length > 0 && { calls: wait.shown }) }
}

type SettlingPorts = Pick<SessionActorPorts, 'journal' | 'recorder'>

/** Stores what is left and the outcome. Resolves to the event that ends the settling. */
async function settle(running: RunningReply, ending: Ending, ports: SettlingPorts): Promise<SessionEvent> {
  const { log } = running
  const endedAt = new Date()
  const figures = figuresOf(running, ending)
  running.observer.on({ type: 'settling' })
  const usage = (await running.generation?.usage()) ?? noUsage
  running.usage = usage
  const { verdict, events } = await log.finish()
  if (verdict === 'fenced') return { type: 'lost' }
  running.settlingSince = performance.now()
  const isCut = running.notStored && ending.type === 'failed' && ending.error.code === 'internal'
  if (isCut && verdict === 'stored' && (await running.goesOnElsewhere())) {
    running.end = { outcome: 'handed_over', error: null }
    return { type: 'lost' }
  }
  if (verdict === 'refused') running.notStored = true
  const outcome = outcomeOf(verdict === 'refused' ? unstored : ending, usage)
  const settled = await settleWithSteps(running, ports, {
    outcome,
    events,
    endedAt,
    requesterLost: running.requesterLost,
    reasoningMs: countedOf(running).reasoningMs,
    figures,
    title: running.titleFrom === null ? null : deriveTitle(running.titleFrom),
    waiting: verdict === 'refused' ? undefined : waitingOf(running, ending),
  })
  if (settled.result !== 'settled') return { type: settled.result === 'gone' ? 'deleted' : 'lost' }
  const { settledAt, next = null } = settled
  return { type: 'settled', ended: { outcome, endedAt: endedAt.toISOString(), settledAt }, next }
}

export const settledDetail = ({ usage, requesterLost, generation }: RunningReply) => {
  const { promptTokens, completionTokens } = usage
  return { promptTokens, completionTokens, requesterLost, attempts: generation?.attempts() ?? 0 }
}

/** Stores the settlement, and the reply's waiting steps along with it. */
async function settleWithSteps(running: RunningReply, ports: SettlingPorts, settlement: Settlement): Promise<Settled> {
  const { journal, recorder } = ports
  const { info } = running.log
  const last = {
    sessionId: info.sessionId,
    at: new Date(),
    from: 'streaming.settling',
    to: restStateOf(settlement.outcome),
    event: 'settled',
    messageId: info.id,
    detail: settledDetail(running),
  }
  return await recorder.settle(last, async (steps) => {
    const settled = await journal.settle(info, steps ? { ...settlement, steps } : settlement)
    running.isEndRecorded = steps !== undefined && settled.result === 'settled'
    return settled
  })
}

/** Returns the counts up to now. */
export function countedOf({ generation, admittedAt, from }: RunningReply) {
  const firstTokenAt = generation?.firstTokenAt() ?? null
  const reasoningMs = generation?.reasoningMs() ?? null
  const before: Pick<Resumption, 'firstTokenMs' | 'reasoningMs'> = from ?? { firstTokenMs: null, reasoningMs: null }
  return {
    attempts: generation?.attempts() ?? 0,
    firstTokenMs: before.firstTokenMs ?? (firstTokenAt === null ? null : Math.round(firstTokenAt - admittedAt)),
    reasoningMs:
      reasoningMs === null && before.reasoningMs === null ? null : (reasoningMs ?? 0) + (before.reasoningMs ?? 0),
  }
}

function figuresOf(running: RunningReply, ending: Ending): ReplyFigures {
  const { generation, admittedAt } = running
  const { firstTokenMs, attempts } = countedOf(running)
  const sent = generation?.sent() ?? null
  const refusal = generation?.refusal() ?? null
  const status = ending.type === 'failed' ? (generation?.refusedWith() ?? null) : null
  return {
    firstTokenMs,
    durationMs: Math.round(performance.now() - admittedAt),
    attempts,
    ...(refusal !== null && { refusal }),
    ...(status !== null && { providerStatus: status }),
    ...(sent && { sent }),
  }
}

function endOf(outcome: Outcome, notStored: boolean): RunningReply['end'] {
  if (outcome.type === 'finished') return { outcome: outcome.reason, error: null }
  const { error } = outcome
  return { outcome: notStored && error.code === 'internal' ? 'not_stored' : error.code, error }
}

export function sessionActors({ journal, recorder, onError }: SessionActorPorts) {
  type Work = (reply: RunningReply, signal: AbortSignal, journal: Journal) => Promise<SessionEvent>
  /** Works until it has an event for the machine, or its state is left. */
  function working(work: Work, failed: string, reply: RunningReply, sendBack: (event: SessionEvent) => void) {
    const controller = new AbortController()
    work(reply, controller.signal, journal).then(
      (event) => {
        if (!controller.signal.aborted) sendBack(event)
      },
      (error: unknown) => {
        if (controller.signal.aborted) return
        onError(error, reply.log.info)
        sendBack(failure(failed, error))
      },
    )
    return () => controller.abort(replyEnded)
  }
  return {
    generate: fromCallback<SessionEvent, GenerateInput, SessionEvent>(({ input: { reply }, sendBack }) =>
      working(generate, 'The reply could not be generated.', reply, sendBack),
    ),
    // A summary that no reply waits for is made by its request, which also sends the event at its end.
    compact: fromCallback<SessionEvent, CompactInput, SessionEvent>(({ input: { reply }, sendBack }) =>
      reply === null ? undefined : working(compact, 'The history could not be summarised.', reply, sendBack),
    ),
    settle: fromCallback<SessionEvent, SettleInput, SessionEvent>(({ input: { reply, ending }, sendBack }) => {
      settle(reply, ending, { journal, recorder }).then(sendBack, (error: unknown) => {
        // The row still streams: the check for orphans settles it within seconds (local.ts).
        onError(error, reply.log.info)
        sendBack({ type: 'lost' })
      })
    }),
  }
}

type Args = { context: SessionContext; event: SessionEvent }

/** The machine's actions that end a log: nothing else does. */
export const sessionActions = {
  closeLog({ context, event }: Args): void {
    assertEvent(event, 'settled')
    const reply = replyIn(context)
    reply.end = endOf(event.ended.outcome, reply.notStored)
    reply.log.close(event.ended)
  },
  cutLog({ context }: Args): void {
    const reply = replyIn(context)
    reply.requesterLost = true
    reply.log.cut()
  },
  dropLog({ context }: Args): void {
    const reply = replyIn(context)
    reply.end = { outcome: 'session_deleted', error: null }
    reply.log.drop()
  },
}
