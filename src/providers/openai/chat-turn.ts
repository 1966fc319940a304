/** One turn of a chat-completions model, read chunk by chunk. Pure: no I/O, no time. */

import type { ModelEvent } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { malformed, type ProviderProblem } from '../wire/failure.ts'
import { problemInStream } from '../wire/provider-errors.ts'
import { type Fields, parse } from '../wire/provider-json.ts'
import { type End, type ReasonWords, reasonIn, turnEnd } from '../wire/turn-end.ts'
import { addActivity } from '../wire/turn-events.ts'
import { type ChatReasoning, gatherReasoning, reasoningIn } from './chat-reasoning.ts'
import { gatherCalls } from './gathered-calls.ts'

export interface Turn {
  /** What the model has sent since the caller last emptied it. */
  readonly events: ModelEvent[]
  /** The first thing that went wrong; what came before it lies in `events`. Nothing is read after it. */
  problem(): ProviderProblem | null
  /** `[DONE]` was read: nothing more will come. */
  done(): boolean
  /** The model has finished, with or without `[DONE]`. */
  finished(): boolean
  /** One SSE event's data. */
  take(data: string, eventName?: string): void
  /** A sign of life without content. */
  alive(): void
  /** The tool calls, then the end. */
  close(): ModelEvent[]
}

const finishReasons: ReasonWords = {
  stop: ['stop'],
  length: ['length', 'model_length', 'max_tokens'],
  content_filter: ['content_filter'],
  tool_calls: ['tool_calls', 'function_call'],
}

/** Not ends but breaks: a reply cut off by the vendor must not look whole. */
const brokenOff = new Set(['error', 'insufficient_system_resource'])

export interface TurnOptions {
  /** Reasoning comes as events of its own. */
  reasoning: boolean
  /** Keeps what the vendor wants back with the results of this turn's calls. Null when it wants nothing. */
  keepEcho: ((back: ChatReasoning) => object) | null
}

export function readTurn({ reasoning, keepEcho }: TurnOptions): Turn {
  const events: ModelEvent[] = []
  const calls = gatherCalls()
  const back = keepEcho && gatherReasoning()
  let problem: ProviderProblem | null = null
  let done = false
  let finish: string | null = null
  let usage: End['usage'] = null
  let usageAnnounced = false

  function take(data: string, eventName?: string): void {
    if (problem || done || data === '') return
    if (data.trim() === '[DONE]') {
      done = true
      return
    }
    const chunk = parse(data)
    if (!isObject(chunk)) problem = malformed(data)
    else if (chunk.error || eventName === 'error') problem = problemInStream(chunk.error || chunk, data)
    else takeChunk(chunk, data)
  }
  function takeChunk(chunk: Fields, data: string): void {
    usage = usageOf(chunk) ?? usage
    // OpenAI's documented sign that the last chunk will have usage: null in all others.
    if (chunk.usage === null && !usageAnnounced) {
      usageAnnounced = true
      events.push({ type: 'activity', usageFollows: true })
    }
    const choice = Array.isArray(chunk.choices) ? chunk.choices.find(isFirst) : undefined
    if (!isObject(choice)) {
      addActivity(events)
      return
    }
    // A whole completion has `message` where a chunk has `delta`; some servers mix them up.
    const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : {}
    const text = textOf(delta.content) || textOf(delta.refusal)
    const thought = reasoning ? reasoningIn(delta) : ''
    if (thought) events.push({ type: 'reasoning', text: thought })
    if (text) events.push({ type: 'text', text })
    else if (!thought) addActivity(events, hasOutput(delta))
    back?.add(delta)
    problem = calls.add(delta)
    if (choice.error) problem = problemInStream(choice.error, data)
    if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') return
    finish = choice.finish_reason
    if (brokenOff.has(finish)) problem ??= problemInStream({ message: `finish reason ${finish}` }, data)
  }
  return {
    events,
    problem: () => problem,
    done: () => done,
    finished: () => done || finish !== null,
    take,
    alive: () => addActivity(events),
    close: () =>
      turnEnd(reasonIn(finishReasons, finish), usage, calls.all, () => {
        const kept = back?.all() ?? null
        return kept && keepEcho ? keepEcho(kept) : null
      }),
  }
}

const isFirst = (choice: unknown): boolean => isObject(choice) && (choice.index ?? 0) === 0

/** Text, or the text parts of a list; other parts (Mistral's `thinking`) are not for the reader. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** Where vendors put reasoning and calls. A list under "content" may hold Mistral's `thinking`. */
const outputFields = [
  'content',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking',
  'thinking_blocks',
  'tool_calls',
  'function_call',
]

/** Has the model made anything in this delta? A role and empty fields are nothing. */
const hasOutput = (delta: Fields): boolean => outputFields.some((name) => !isEmpty(delta[name]))

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** The newest report wins: some servers send a growing one with every chunk. Groq puts it under `x_groq`. */
function usageOf(chunk: Fields): End['usage'] {
  const usage = chunk.usage ?? (isObject(chunk.x_groq) ? chunk.x_groq.usage : null)
  if (!isObject(usage)) return null
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage
  return isCount(promptTokens) && isCount(completionTokens) ? { promptTokens, completionTokens } : null
}

// The columns are 32-bit integers.
export const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31
