/**
 * The generation of a reply, turn by turn: the model answers, its tools run in parallel, it is asked again with their
 * results, until it calls no more tools. Emits what is to be shown, in order; resolves to how it ended.
 */

import { unlessAborted } from '../../async/unless-aborted.ts'
import { createSending, type Sending, sendingAll } from '../history/conversation.ts'
import type { ModelRequest, SentBefore, Take, ToolChoice, ToolSpec } from '../ports/index.ts'
import { unobserved } from '../ports/observer.ts'
import type { ReplyEvent, Usage } from '../reply/reply-event.ts'
import { noActions, plain } from './defaults.ts'
import { type Ending, endedEarly, type Limits, passGate, withinLimits } from './endings.ts'
import { heldEvents } from './held-text.ts'
import { endOfMissing, goingWithout, recordMissing } from './missing-tools.ts'
import { runTurn } from './model-turn.ts'
import { createModelAttribution } from './models.ts'
import { answerOf, messagesOf, withOwnIds } from './open-turn.ts'
import { createReasoning } from './reasoning.ts'
import { type GenerateOptions, openWithin, type Running } from './running.ts'
import { cleanText } from './text-cleaner.ts'
import { runTools } from './tool-calls.ts'
import { createTally } from './usage-tally.ts'

export const DEFAULT_TOOL_CALLS = 10 // of a whole reply, when the agent sets no limit

export interface Generation {
  /**
   * Runs the generation, once. `take` gets the events to be shown. After `signal` aborts it takes nothing more, and
   * soon rejects, or resolves to an ending that means nothing. `stored` resolves when all that was taken is stored, to
   * false when it never will be: nothing is called before. When absent, nothing of this reply is stored.
   */
  run(signal: AbortSignal, take: Take<ReplyEvent>, stored?: Stored): Promise<Ending>
  /** Runs it, but resolves to `compact` when the history is to be summarised first: nothing is done by then. */
  runUnlessLong(signal: AbortSignal, take: Take<ReplyEvent>, stored: Stored): Promise<Ending | 'compact'>
  /** Has the history summarised, after `compact` or instead of `run`. Resolves to the ending that a limit brought, too. */
  compact(signal: AbortSignal, stored?: Stored): Promise<'compacted' | 'fenced' | Ending>
  /**
   * Counts the tokens used up to this call: the provider's report, a tokenizer's estimate for turns without one. Counts
   * of all turns are asked for at once, and not at all when every turn reported. Never rejects.
   */
  usage(): Promise<Usage>
  /** Calls to providers so far. */
  attempts(): number
  /** Returns when its first text or reasoning came (ms, monotonic). Null when none has. */
  firstTokenAt(): number | null
  /** Returns why the model, or a filter, refused. Null when neither did, or none was given. */
  refusal(): string | null
  /** Returns the HTTP status with which a provider refused the last model call. Null when none did, or without one. */
  refusedWith(): number | null
  /** Returns the measures of the last model call's request. Null when none was made, or of no conversation. */
  sent(): SentBefore | null
  /** Returns how long the model has thought so far (milliseconds). Null when it did not, or was not asked to. */
  reasoningMs(): number | null
}

type Stored = () => Promise<boolean>

/** Characters of a refusal's words that are kept. */
const MAX_REFUSAL = 2000

export function createGeneration(request: Omit<ModelRequest, 'tools'>, options: GenerateOptions): Generation {
  const { timeoutMs, gate, observer = unobserved, actions = noActions, from } = options
  const tally = createTally(request, options.model, from?.used)
  const reasoning = createReasoning()
  const models = createModelAttribution(request, from)
  const { calls, compaction: compacting, pictures } = { ...plain, ...options }
  const compaction = compacting(options.told ?? null)
  let deadline: number | null = null
  let sent: SentBefore | null = null
  const keepSent = (last: SentBefore) => {
    sent = last
  }
  let refusal: string | null = null
  const keepRefusal = (words: string) => {
    refusal = words
  }
  const constant = {
    ...options,
    actions,
    request,
    tally,
    models,
    reasoning,
    observer,
    calls: calls(actions),
    compaction,
    pictures: pictures(),
    keepSent,
    keepRefusal,
  }
  function within<T>(outer: AbortSignal, work: (limits: Limits) => Promise<T>): Promise<T | Ending> {
    deadline ??= performance.now() + timeoutMs
    return withinLimits(outer, { timeoutMs, deadline, ...(gate && { gate }) }, work)
  }
  return {
    async run(outer, take, stored) {
      const ending = await within(outer, (limits) => runTurns({ ...constant, ...limits, take, stored }, false))
      if (ending === 'compact') throw new Error('A history is to be summarised that nobody is asked to summarise.')
      return ending
    },
    runUnlessLong: (outer, take, stored) =>
      within(outer, (limits) => runTurns({ ...constant, ...limits, take, stored }, true)),
    compact: (outer, stored) =>
      within(outer, (limits) => compaction.run({ ...constant, ...limits, stored, take: () => undefined })),
    usage: tally.usage,
    attempts: models.attempts,
    firstTokenAt: models.firstTokenAt,
    refusal: () => refusal,
    refusedWith: models.refusedWith,
    sent: () => sent,
    reasoningMs: reasoning.ms,
  }
}

/** Runs the turns of a reply. `mayCompact`: a history that is to be summarised first is not sent. */
async function runTurns(given: Running, mayCompact: boolean): Promise<Ending | 'compact'> {
  const { request, actions, from, calls: policy } = given
  const { continued, toolChoice } = actions
  const maxCalls = request.config.maxToolCalls ?? DEFAULT_TOOL_CALLS
  await passGate(given)
  const mayCall = maxCalls > 0 || continued !== undefined
  const toolbox = mayCall ? await openWithin(given) : null
  const running = goingWithout(given, toolbox)
  const tools = policy.offered(toolbox?.tools ?? [])
  const sending = sendingOf(tools, running)
  // Before anything is done: what follows a summary begins anew.
  const end = endOfMissing(toolbox)
  if (end === null && mayCompact && running.compaction.isDue(sending, tools)) return 'compact'
  await recordMissing(running, toolbox)
  if (end !== null) return end
  const chain = continued?.chain
  let turns = from?.said ?? chain?.turns ?? []
  let callsUsed = from?.spent ?? chain?.callsUsed ?? actions.callsUsed ?? 0
  let calls = from?.calls ?? 0 // of this reply
  let kept = from?.turns ?? 0 // turns of calls
  let interrupted = from?.text ?? ''
  let firstCall: { toolChoice?: ToolChoice } = toolChoice === null || from?.isFirstCall === false ? {} : { toolChoice }
  const waited = from && (await from.beginAgain(sending.next(turns).messages, running))
  if (waited) return { type: 'finished', reason: 'tool_calls', wait: waited }
  if (from?.rejoin && toolbox !== null) {
    const { said, wait } = await from.rejoin(toolbox, running)
    if (wait !== null) return { type: 'finished', reason: 'tool_calls', wait }
    turns = said
  }
  if (policy.runDecided !== null && toolbox !== null && from?.hasDecided !== true) {
    const turn = await policy.runDecided(toolbox, running)
    const wait = policy.waitOf({ turns, turn, callsUsed })
    if (wait !== null) return { type: 'finished', reason: 'tool_calls', wait }
    turns = [...turns, ...messagesOf(turn)]
  }
  // One that goes on behind a text is within a turn.
  const isBetweenTurns = interrupted === '' && (continued !== undefined || kept > 0)
  if (isBetweenTurns && (await endsHere(running))) return { type: 'finished', reason: 'steered' }
  for (;;) {
    // Cancelled before its first word: a model that is not asked costs nothing, and counts nothing.
    await passGate(running)
    const offered = callsUsed < maxCalls && tools.length > 0
    const offer = offered ? { tools, ...firstCall } : { tools: [] }
    const seen = running.pictures.beside(turns)
    const turn = await (from === undefined || interrupted === ''
      ? runTurn(sending.next(seen), offer, running)
      : from.goOnBehind(running, (more, behind) => runTurn(sending.next([...seen, ...more]), offer, behind)))
    const before = interrupted
    interrupted = ''
    const last = running.models.lastSent()
    if (turn.end?.refusal) running.keepRefusal(cleanText(turn.end.refusal.slice(0, MAX_REFUSAL)))
    if (last) sending.counted(last, turn.end?.usage?.promptTokens ?? null)
    firstCall = {}
    const isLast = turn.failure !== null || turn.calls.length === 0 || callsUsed >= maxCalls || toolbox === null
    if (isLast && turn.held !== '' && !running.signal.aborted) await running.take(heldEvents(turn.held, false, request))
    if (turn.failure !== null || turn.end === null) return { type: 'failed', error: turn.failure ?? endedEarly }
    if (turn.calls.length === 0 || callsUsed >= maxCalls || toolbox === null) {
      return { type: 'finished', reason: turn.end.reason === 'tool_calls' ? 'stop' : turn.end.reason }
    }
    const asked = withOwnIds(policy.considered(turn.calls, toolbox), turns)
    const answer = answerOf(before + turn.text, asked, turn.end.echo)
    const place = { answer, before: calls, left: maxCalls - callsUsed, held: turn.held }
    calls += asked.length
    callsUsed += asked.length
    kept += 1
    const open = await runTools(asked, toolbox, { ...place, n: kept, spent: callsUsed }, running)
    const wait = policy.waitOf({ turns, turn: open, callsUsed })
    if (wait !== null) return { type: 'finished', reason: 'tool_calls', wait }
    turns = [...turns, ...messagesOf(open)]
    if (await endsHere(running)) return { type: 'finished', reason: 'steered' }
  }
}

/** Decides whether the reply ends between two turns. */
async function endsHere({ atBoundary, pictures, signal }: Running): Promise<boolean> {
  return atBoundary !== undefined && (await unlessAborted(atBoundary(!pictures.areShown()), signal))
}

function sendingOf(tools: readonly ToolSpec[], { request, compaction, keepSent }: Running): Sending {
  const { system, messages } = request
  const told = compaction.told()
  return told ? createSending(told, { system, tools }, keepSent) : sendingAll(messages)
}
