/** One turn of a chat-completions model, read chunk by chunk. Pure: no I/O, no time. */
import { randomUUID } from 'node:crypto'
import type { ModelEvent, ToolCall } from '../actors/ports.ts'
import { ProviderProblem } from './failure.ts'
import { isFields, problemInStream } from './provider-words.ts'
import { addActivity } from './turn-events.ts'

type Fields = Record<string, unknown>
export type End = Extract<ModelEvent, { type: 'end' }>

export interface Turn {
  /** What the model has said since the caller last emptied it. */
  readonly events: ModelEvent[]
  /** The first thing that went wrong; what came before it lies in `events`. Nothing is read after it. */
  problem(): ProviderProblem | null
  /** `[DONE]` was read: nothing more will come. */
  done(): boolean
  /** The model has finished, whether or not the stream says goodbye. */
  finished(): boolean
  /** One SSE event's data. */
  take(data: string, eventName?: string): void
  /** A sign of life without content. */
  alive(): void
  /** The tool calls, then the end. */
  close(): ModelEvent[]
}

/** Arguments beyond this are no call but a fault; tool results are bounded likewise (contract section 6). */
export const maxArguments = 4 * 1024 * 1024

const finishReasons: Record<string, End['reason']> = {
  stop: 'stop',
  length: 'length',
  model_length: 'length',
  max_tokens: 'length',
  content_filter: 'content_filter',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
}

/** Not ends but breaks: a reply cut off by the vendor must not look whole. */
const brokenOff = new Set(['error', 'insufficient_system_resource'])

export function readTurn(): Turn {
  const events: ModelEvent[] = []
  const calls = gatherCalls()
  let problem: ProviderProblem | null = null
  let done = false
  let finish: string | null = null
  let usage: End['usage'] = null

  function take(data: string, eventName?: string): void {
    if (problem || done || data === '') return
    if (data.trim() === '[DONE]') {
      done = true
      return
    }
    const chunk = parse(data)
    if (!isFields(chunk)) problem = malformed(data)
    else if (chunk.error || eventName === 'error') problem = problemInStream(chunk.error || chunk, data)
    else takeChunk(chunk, data)
  }
  function takeChunk(chunk: Fields, data: string): void {
    usage = usageOf(chunk) ?? usage
    const choice = Array.isArray(chunk.choices) ? chunk.choices.find(isFirst) : undefined
    if (!isFields(choice)) {
      addActivity(events)
      return
    }
    // A whole completion has `message` where a chunk has `delta`; some servers mix them up.
    const delta = isFields(choice.delta) ? choice.delta : isFields(choice.message) ? choice.message : {}
    const text = textOf(delta.content) || textOf(delta.refusal)
    if (text) events.push({ type: 'text', text })
    else addActivity(events, hasOutput(delta))
    if (calls.take(delta) > maxArguments) problem = malformed('tool arguments beyond 4 MiB')
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
    close() {
      const reason = finishReasons[finish ?? ''] ?? 'stop'
      // A call cut off by the length limit or a filter must not run.
      if (reason === 'length' || reason === 'content_filter') return [{ type: 'end', reason, usage }]
      const made = calls.all()
      // Several vendors say `stop` after tool calls, others `tool_calls` without any.
      const end: End = { type: 'end', reason: made.length > 0 ? 'tool_calls' : 'stop', usage }
      return [...made.map((call): ModelEvent => ({ type: 'tool_call', call })), end]
    },
  }
}

const isFirst = (choice: unknown): boolean => isFields(choice) && (choice.index ?? 0) === 0

export function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}

export const malformed = (what: string): ProviderProblem =>
  new ProviderProblem({ kind: 'malformed', full: `No chat completion: ${what.slice(0, 2000)}` })

/** Text, or the text parts of a list; other parts (Mistral's `thinking`) are not for the reader. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isFields(part) && typeof part.text === 'string' ? part.text : '')).join('')
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
  const usage = chunk.usage ?? (isFields(chunk.x_groq) ? chunk.x_groq.usage : null)
  if (!isFields(usage)) return null
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage
  return isCount(promptTokens) && isCount(completionTokens) ? { promptTokens, completionTokens } : null
}

// The columns are 32-bit integers.
export const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31

/** Puts tool calls together from their deltas. Vendors differ in whether they send indexes, ids and names again. */
function gatherCalls() {
  const calls: ToolCall[] = []
  const byIndex = new Map<number, ToolCall>()
  let size = 0

  function callFor(index: number | null, id: string, name: string, text: string): ToolCall {
    const known = index !== null ? byIndex.get(index) : id ? calls.find((call) => call.id === id) : calls.at(-1)
    if (known && !startsAnother(known, id, name, text)) return known
    const call = { id, name, arguments: '' }
    calls.push(call)
    if (index !== null) byIndex.set(index, call)
    return call
  }
  function takeOne(part: unknown): void {
    if (!isFields(part)) return
    const fn = isFields(part.function) ? part.function : {}
    const id = typeof part.id === 'string' ? part.id : ''
    const name = typeof fn.name === 'string' ? fn.name : ''
    const text =
      typeof fn.arguments === 'string' ? fn.arguments : isFields(fn.arguments) ? JSON.stringify(fn.arguments) : ''
    const call = callFor(typeof part.index === 'number' ? part.index : null, id, name, text)
    call.id ||= id
    call.name ||= name
    call.arguments += text
    size += text.length
  }
  return {
    /** Returns the characters of arguments gathered so far. */
    take(delta: Fields): number {
      if (Array.isArray(delta.tool_calls)) for (const part of delta.tool_calls) takeOne(part)
      if (isFields(delta.function_call)) takeOne({ index: 0, function: delta.function_call })
      return size
    },
    /** Calls without an id get one, and those without arguments the empty object that they mean. */
    all: (): ToolCall[] =>
      calls.map((call) => ({
        id: call.id || `call_${randomUUID()}`,
        name: call.name,
        arguments: call.arguments.trim() || '{}',
      })),
  }
}

/**
 * Is this delta another call under an index already in use? Told by a name together with another id, or with
 * arguments after ones that are whole already. An id alone is no sign: some servers make up a new one for each delta.
 */
function startsAnother(known: ToolCall, id: string, name: string, text: string): boolean {
  if (!name || !known.name) return false
  if (id && known.id) return id !== known.id
  return text !== '' && known.arguments !== '' && parse(known.arguments) !== null
}
