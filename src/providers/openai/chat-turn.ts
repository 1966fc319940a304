/** A turn of a chat-completions model, read chunk by chunk. Pure: no I/O, no time. */

import type { EndReason, ModelEvent } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { ProviderProblem } from '../wire/failure.ts'
import { errorIn, problemInStream, problemOfText, saysNothing } from '../wire/provider-errors.ts'
import { type Fields, parse } from '../wire/provider-json.ts'
import { chatUsage } from '../wire/reported-usage.ts'
import { type End, isUnknownEnd, type ReasonWords, reasonIn, turnEnd } from '../wire/turn-end.ts'
import { addActivity, type Turn } from '../wire/turn-stream.ts'
import { type ChatEcho, type ChatReasoning, gatherReasoning, reasoningIn } from './chat-reasoning.ts'
import { gatherCalls } from './gathered-calls.ts'

const finishReasons: ReasonWords = {
  stop: ['stop'],
  length: ['length', 'model_length', 'max_tokens'],
  content_filter: ['content_filter'],
  tool_calls: ['tool_calls', 'function_call'],
}

/** Finish reasons of replies that the vendor cut off. They must not look whole. */
const brokenOff = new Set(['error', 'insufficient_system_resource'])

export interface TurnOptions {
  /** True when reasoning is emitted as events. */
  reasoning: boolean
  /**
   * The use of this turn's reasoning with the results of its calls: sent back, or held until the vendor requires it.
   * Null: never sent.
   */
  reasoningBack: 'sent' | 'held' | null
  /** Stores the data to send back with the results, and the data held until the vendor requires it. */
  keepEcho(back: ChatEcho | null, held: ChatReasoning | null): object
}

export function readTurn({ reasoning, reasoningBack, keepEcho }: TurnOptions): Turn {
  const events: ModelEvent[] = []
  const calls = gatherCalls()
  const back = reasoningBack ? gatherReasoning() : null
  const ends = readEnds()
  let problem: ProviderProblem | null = null
  let done = false
  let made = false
  let usageAnnounced = false

  function take(data: string, eventName?: string): void {
    if (problem || done || data === '') return
    if (data.trim() === '[DONE]') {
      done = true
      return
    }
    const chunk = parse(data)
    if (!isObject(chunk)) problem = problemOfText(data, eventName)
    else {
      const error = eventName === 'error' ? (errorIn(chunk, []) ?? chunk) : errorIn(chunk, ['choices', 'x_groq'])
      if (error) problem = problemInStream(error, data)
      else takeChunk(chunk, data)
    }
  }
  function say(thought: string, text: string, output: boolean): void {
    if (reasoning && thought !== '') events.push({ type: 'reasoning', text: thought })
    if (text !== '') events.push({ type: 'text', text })
    else if (!reasoning || thought === '') addActivity(events, output || thought !== '')
    made ||= output || text !== '' || thought !== ''
  }
  function takeChunk(chunk: Fields, data: string): void {
    // OpenAI's documented sign that the last chunk will have usage: null in all others.
    if (chunk.usage === null && !usageAnnounced) {
      usageAnnounced = true
      events.push({ type: 'activity', usageFollows: true })
    }
    const choice = Array.isArray(chunk.choices) ? chunk.choices.find(isFirst) : undefined
    ends.take(chunk, choice)
    if (!isObject(choice)) {
      addActivity(events)
      return
    }
    // A whole completion has `message` where a chunk has `delta`; some servers mix them up.
    const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : {}
    say(reasoningIn(delta), `${textOf(delta.content)}${textOf(delta.refusal)}`, hasOutput(delta))
    back?.add(delta)
    problem = calls.add(delta)
    if (!saysNothing(choice.error)) problem = problemInStream(choice.error, data)
    else problem ??= ends.problem(made, data)
  }
  return {
    events,
    problem: () => problem,
    done: () => done,
    finished: () => done || (made && ends.finished()) || ends.reason() !== null,
    take,
    alive: () => addActivity(events),
    close() {
      const reason = reasonIn(finishReasons, ends.reason())
      const echo = () => {
        const kept = back?.all() ?? null
        const extras = calls.extras()
        const [sent, held] = reasoningBack === 'held' ? [null, kept] : [kept, null]
        const goesBack = sent || extras ? { ...sent, ...(extras && { extras }) } : null
        return goesBack || held ? keepEcho(goesBack, held) : null
      }
      return turnEnd(reason, ends.usage(), calls.all, echo, ends.refusal(reason))
    },
  }
}

/** Reads how a turn ends and its usage from its last chunks, in any order. */
function readEnds() {
  let finish: string | null = null
  let usage: End['usage'] = null
  let refusal = ''
  let filtered = ''
  let isWhole = false
  return {
    take(chunk: Fields, choice: unknown): void {
      const counted = chatUsage(chunk.usage ?? (isObject(chunk.x_groq) ? chunk.x_groq.usage : null))
      // The newest report wins: some servers send a growing one with every chunk. Groq puts it under `x_groq`.
      usage = counted ?? usage
      if (!isObject(choice)) {
        // A chunk with usage alone is sent last.
        isWhole ||= counted !== null
        return
      }
      // An answer without streaming is whole, whether or not it says why it ended.
      isWhole = isObject(choice.message) && !isObject(choice.delta)
      const delta = isObject(choice.delta) ? choice.delta : choice.message
      refusal += isObject(delta) ? textOf(delta.refusal) : ''
      filtered ||= filteredIn(choice)
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') finish = choice.finish_reason
    },
    reason: () => finish,
    usage: () => usage,
    /** Returns the model's words, or those of a filter that took effect. Null when there are none. */
    refusal: (reason: EndReason) => refusal || (reason === 'content_filter' && filtered) || null,
    /** Returns whether the answer is whole, though no reason was given. */
    finished: () => isWhole,
    problem(made: boolean, whole: string): ProviderProblem | null {
      if (finish === null) return null
      if (brokenOff.has(finish)) return problemInStream({ message: `finish reason ${finish}` }, whole)
      if (made || !isUnknownEnd(finishReasons, finish)) return null
      return new ProviderProblem({ kind: 'reported', reason: `the model ended with ${finish}`, full: whole })
    },
  }
}

/** Returns the filters that took effect, which Azure names. */
function filteredIn({ content_filter_results: results }: Fields): string {
  if (!isObject(results)) return ''
  const names = Object.entries(results).flatMap(([name, found]) =>
    isObject(found) && found.filtered === true ? [name] : [],
  )
  return names.length === 0 ? '' : `filtered for ${names.join(', ')}`
}

const isFirst = (choice: unknown): boolean => isObject(choice) && (choice.index ?? 0) === 0

/** Returns text, or the text parts of a list; other parts (Mistral's `thinking`) are not for the reader. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** The fields in which vendors put text, reasoning and calls. A list under "content" may hold Mistral's `thinking`. */
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

/** Returns whether this delta has output. A role and empty fields are none. */
const hasOutput = (delta: Fields): boolean => outputFields.some((name) => !isEmpty(delta[name]))

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
