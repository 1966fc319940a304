/**
 * One reply, turn by turn: the model answers, its tools run in parallel, it is asked again with their results, until
 * it calls no more tools. Emits what is to be shown, in order; resolves to how it ended.
 */
import { cleanText, createTextCleaner } from './clean-text.ts'
import { type ModelCallEnd, type Pace, type ReplyObserver, unobserved } from './observer.ts'
import type {
  Model,
  ModelEvent,
  ModelFailure,
  ModelMessage,
  ModelRequest,
  OpenToolbox,
  Take,
  Toolbox,
  ToolCall,
} from './ports.ts'
import type { ReplyEvent, Usage } from './reply-event.ts'
import type { Ending } from './session-machine.ts'
import { observedCall } from './tool-call-observation.ts'
import { repeatableCall } from './tool-turns.ts'

/** Tool calls of a whole reply, when the agent sets no limit (contract section 2). */
const DEFAULT_TOOL_CALLS = 10

export interface GenerateOptions {
  model: Model
  openToolbox: OpenToolbox
  /** Limit of the whole reply in milliseconds. */
  timeoutMs: number
  /** Absent: nobody measures. */
  observer?: ReplyObserver
}

export interface Generation {
  /**
   * To be called once; `take` gets what is to be shown. After `signal` aborts it takes nothing more, and soon
   * rejects, or resolves to an ending that means nothing.
   */
  run(signal: AbortSignal, take: Take<ReplyEvent>): Promise<Ending>
  /**
   * Tokens used up to this call: the provider's report, a tokenizer's estimate for turns without one. Counts of all turns
   * are asked for at once, and not at all when every turn reported. Never rejects.
   */
  usage(): Promise<Usage>
}

/** One for all replies: to build a DOMException with its stack cost 40 µs for each of five signals a reply. */
export const replyEnded = new DOMException('The reply has ended.', 'AbortError')

/** What a model turn left behind. */
interface Turn {
  text: string
  calls: ToolCall[]
  /** What the provider has counted so far: less than the whole. */
  counted: Omit<Usage, 'estimated'>
  end: Extract<ModelEvent, { type: 'end' }> | null
  failure: ModelFailure | null
}

const nothing = { promptTokens: 0, completionTokens: 0 }

const endedEarly: ModelFailure = {
  code: 'internal',
  message: 'The model call ended without an end.',
  detail: 'The model call ended without an end.',
}

/** What every part of a running generation needs. */
interface Running extends Omit<GenerateOptions, 'timeoutMs'> {
  request: Omit<ModelRequest, 'tools'>
  tally: Tally
  observer: ReplyObserver
  signal: AbortSignal
  take: Take<ReplyEvent>
}

export function createGeneration(request: Omit<ModelRequest, 'tools'>, options: GenerateOptions): Generation {
  const { timeoutMs, observer = unobserved } = options
  const tally = createTally(request, options.model)
  return {
    async run(outer, take) {
      const limit = new AbortController()
      const abort = () => limit.abort(replyEnded)
      const timer = setTimeout(abort, timeoutMs)
      outer.addEventListener('abort', abort)
      if (outer.aborted) abort()
      try {
        const ending = await runTurns({ ...options, request, tally, observer, signal: limit.signal, take })
        return limit.signal.aborted && !outer.aborted ? timedOut(timeoutMs) : ending
      } catch (error) {
        if (limit.signal.aborted && !outer.aborted) return timedOut(timeoutMs)
        throw error
      } finally {
        clearTimeout(timer)
        outer.removeEventListener('abort', abort)
      }
    },
    usage: tally.usage,
  }
}

async function runTurns(running: Running): Promise<Ending> {
  const { request, signal } = running
  const maxCalls = request.config.maxToolCalls ?? DEFAULT_TOOL_CALLS
  const toolbox = maxCalls > 0 ? await unlessAborted(openWithin(running), signal) : null
  let { messages } = request
  for (let called = 0; ; ) {
    // Cancelled before its first word: a model that is not asked costs nothing, and counts nothing.
    signal.throwIfAborted()
    const offered = called < maxCalls
    const turn = await runTurn(messages, offered && toolbox !== null ? toolbox.tools : [], running)
    if (turn.failure !== null || turn.end === null) return { type: 'failed', error: turn.failure ?? endedEarly }
    if (turn.calls.length === 0 || !offered || toolbox === null) {
      return { type: 'finished', reason: turn.end.reason === 'tool_calls' ? 'stop' : turn.end.reason }
    }
    const results = await runTools(turn.calls, toolbox, maxCalls - called, running)
    called += turn.calls.length
    const toolCalls = turn.calls.map(repeatableCall)
    const { echo } = turn.end
    const answer: ModelMessage = { role: 'assistant', content: turn.text, toolCalls, ...(echo && { echo }) }
    messages = [...messages, answer, ...results]
  }
}

const openWithin = ({ observer, openToolbox, signal }: Running): Promise<Toolbox> =>
  observer.within(() => openToolbox(signal))

/** One model call: text passes through as it comes, calls are kept for after it. */
async function runTurn(
  messages: readonly ModelMessage[],
  tools: Toolbox['tools'],
  { request, model, tally, observer, signal, take }: Running,
): Promise<Turn> {
  const turn: Turn = { text: '', calls: [], counted: nothing, end: null, failure: null }
  const cleaner = createTextCleaner()
  const pace: Pace = { firstAt: null, lastAt: 0, texts: 0, longestGapMs: 0 }
  const observed = observer.modelCall()
  tally.begin(messages, turn)
  const onEvents: Take<ModelEvent> = (events) => {
    if (signal.aborted) return undefined
    const emitted: ReplyEvent[] = []
    for (const event of events) {
      if (event.type === 'text') {
        keepPace(pace)
        const text = cleaner.push(event.text)
        turn.text += text
        if (text !== '') emitted.push({ type: 'text', text })
      } else keep(turn, event)
    }
    return emitted.length === 0 ? undefined : take(emitted)
  }
  try {
    await observed.within(() => model.stream({ ...request, messages, tools, calls: observed }, signal, onEvents))
  } finally {
    observed.ended({ pace, end: endOf(turn, signal) })
  }
  const rest = cleaner.end()
  turn.text += rest
  if (rest !== '') await take([{ type: 'text', text: rest }])
  if (turn.end === null && turn.failure === null) turn.failure = endedEarly
  tally.end(turn)
  return turn
}

/** What a turn leaves behind beside its text. */
function keep(turn: Turn, event: Exclude<ModelEvent, { type: 'text' }>): void {
  switch (event.type) {
    case 'tool_call':
      turn.calls.push(cleanCall(event.call))
      return
    case 'usage':
      turn.counted = event.usage
      return
    case 'failed':
      turn.failure = event.failure
      return
    case 'end':
      turn.end = event
      return
    case 'activity':
      return
    default:
      event satisfies never
  }
}

/** The calls of one turn in parallel, results in call order. */
async function runTools(
  calls: readonly ToolCall[],
  toolbox: Toolbox,
  allowed: number,
  { observer, signal, take }: Running,
): Promise<ModelMessage[]> {
  const startedAt = new Date().toISOString()
  await take(
    calls.map(({ id, name, arguments: args }) => ({ type: 'tool_call', id, name, arguments: args, startedAt })),
  )
  const results = calls.map(async (call, index) => {
    const begin = performance.now()
    const result =
      index < allowed
        ? await observedCall(observer, call, () => unlessAborted(toolbox.call(call, signal), signal))
        : { ok: false, content: 'Not called: the limit of tool calls is reached.' }
    return { ...result, content: cleanText(result.content), durationMs: Math.round(performance.now() - begin) }
  })
  // A later one may reject (on abort) while an earlier one is awaited.
  for (const result of results) result.catch(() => {})
  const messages: ModelMessage[] = []
  for (const [index, { id }] of calls.entries()) {
    const result = await results[index]
    if (result === undefined) continue
    await take([{ type: 'tool_result', id, ...result }])
    messages.push({ role: 'tool', toolCallId: id, content: result.content })
  }
  return messages
}

type Tally = ReturnType<typeof createTally>

/** Tokens of all turns: what the provider reported, an estimate where it reported nothing. */
function createTally(request: Omit<ModelRequest, 'tools'>, model: Model) {
  const reported = { promptTokens: 0, completionTokens: 0 }
  const unreported = new Map<Turn, readonly ModelMessage[]>()
  return {
    begin: (messages: readonly ModelMessage[], turn: Turn) => void unreported.set(turn, messages),
    end(turn: Turn): void {
      if (!turn.end?.usage) return
      unreported.delete(turn)
      reported.promptTokens += turn.end.usage.promptTokens
      reported.completionTokens += turn.end.usage.completionTokens
    },
    async usage(): Promise<Usage> {
      let { promptTokens, completionTokens } = reported
      // As it is now: a turn that was stopped may still add to its text while its tokens are counted.
      const turns = [...unreported].map(([{ text, counted }, messages]) => {
        const prompt = counted.promptTokens > 0 ? [] : [request.system ?? '', ...messages.map(({ content }) => content)]
        return { text, counted, prompt }
      })
      if (turns.length === 0) return { promptTokens, completionTokens, estimated: false }
      // Each text once: the prompt of a turn repeats all texts before it.
      const texts = [...new Set(turns.flatMap(({ text, prompt }) => [text, ...prompt]))]
      const counts = await model.countTokens(texts)
      const tokens = new Map(texts.map((text, index) => [text, counts[index] ?? 0]))
      for (const { text, counted, prompt } of turns) {
        promptTokens += prompt.reduce((sum, one) => sum + (tokens.get(one) ?? 0), counted.promptTokens)
        completionTokens += Math.max(counted.completionTokens, tokens.get(text) ?? 0)
      }
      return { promptTokens, completionTokens, estimated: true }
    },
  }
}

/** Called for every text: numbers only. */
function keepPace(pace: Pace): void {
  const now = performance.now()
  if (pace.firstAt === null) pace.firstAt = now
  else if (now - pace.lastAt > pace.longestGapMs) pace.longestGapMs = now - pace.lastAt
  pace.lastAt = now
  pace.texts += 1
}

function endOf({ failure, end }: Turn, signal: AbortSignal): ModelCallEnd['end'] {
  if (failure !== null) return failure.code
  return end ?? (signal.aborted ? null : endedEarly.code)
}

/** A reply that is stopped waits for no tool, however slowly that lets go. Rejects with the signal's reason. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    return await Promise.race([work, stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const cleanCall = (call: ToolCall): ToolCall => ({
  id: cleanText(call.id),
  name: cleanText(call.name),
  arguments: cleanText(call.arguments),
})

function timedOut(timeoutMs: number): Ending {
  const message = `The reply took longer than ${timeoutMs / 1000} s.`
  return { type: 'failed', error: { code: 'provider_timeout', message, detail: message } }
}
