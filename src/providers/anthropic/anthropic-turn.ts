/** One turn of Anthropic's Messages API, read event by event. Pure: no I/O, no time. */

import type { ModelEvent, ModelRequest, ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { isCount, type Turn } from '../openai/chat-turn.ts'
import { maxArguments } from '../openai/gathered-calls.ts'
import { argumentsOf } from '../wire/exchanges.ts'
import { malformed, ProviderProblem } from '../wire/failure.ts'
import { problemInStream } from '../wire/provider-errors.ts'
import { type Fields, parse } from '../wire/provider-json.ts'
import { type End, type ReasonWords, reasonIn, turnEnd } from '../wire/turn-end.ts'
import { addActivity } from '../wire/turn-events.ts'
import { type Block, echoes } from './anthropic-body.ts'

/** Characters of arguments and reasoning that one turn may gather. */
const maxGathered = 4 * maxArguments

const finishReasons: ReasonWords = {
  stop: ['end_turn', 'stop_sequence'],
  length: ['max_tokens', 'model_context_window_exceeded'],
  content_filter: ['refusal'],
  tool_calls: ['tool_use'],
}

/** A content block as it grows. What is not read (server tools, which are never asked for) is not kept either. */
type Growing =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; id: string; name: string; json: string; input: unknown }
  | { type: 'other' }

export function readAnthropicTurn(request: Pick<ModelRequest, 'provider' | 'model' | 'reasoning'>): Turn {
  const events: ModelEvent[] = []
  const usage = countUsage()
  let problem: ProviderProblem | null = null
  let done = false
  let finish: string | null = null

  const alive = () => addActivity(events)
  const blocks = gatherBlocks((block, delta) => {
    if (block.type === 'text' && delta !== '') events.push({ type: 'text', text: delta })
    else if (block.type === 'thinking' && request.reasoning && delta !== '') {
      events.push({ type: 'reasoning', text: delta })
    } else addActivity(events, hasOutput(block))
  })
  function count(reported: unknown): void {
    usage.take(reported)
    const total = usage.total()
    if (total) events.push({ type: 'usage', usage: total })
    else alive()
  }
  function stop(reason: unknown): void {
    if (typeof reason === 'string') finish = reason
    // Only tools that run at the vendor pause a turn: none is asked for, and half a reply must not look whole.
    if (reason === 'pause_turn')
      problem = new ProviderProblem({ kind: 'reported', reason: 'the model paused its turn' })
  }
  function takeEvent(event: Fields, data: string): void {
    if (event.type === 'message_start') count(isObject(event.message) ? event.message.usage : null)
    else if (event.type === 'content_block_start') blocks.begin(event.index, event.content_block)
    else if (event.type === 'content_block_delta') {
      blocks.grow(event.index, event.delta)
    } else if (event.type === 'message_delta') {
      count(event.usage)
      stop(isObject(event.delta) ? event.delta.stop_reason : null)
    } else if (event.type === 'message_stop') done = true
    else if (event.type === 'error') problem = problemInStream(event.error ?? event, data)
    else if (event.type === 'message') {
      // A whole message: a proxy in between does not stream.
      for (const [index, part] of Array.isArray(event.content) ? event.content.entries() : []) blocks.begin(index, part)
      count(event.usage)
      stop(event.stop_reason)
    } else alive() // ping, content_block_stop, and what may be added: unknown events are to be ignored
  }
  return {
    events,
    problem: () => problem,
    done: () => done,
    finished: () => finish !== null,
    take(data, eventName) {
      if (problem || done || data === '') return
      const event = parse(data)
      if (!isObject(event)) problem = malformed(data)
      else if (eventName === 'error') takeEvent({ ...event, type: 'error' }, data)
      else if (typeof event.type === 'string') takeEvent(event, data)
      else problem = event.error ? problemInStream(event.error, data) : malformed(data)
      if (blocks.size() > maxGathered) problem ??= malformed('tool arguments and reasoning beyond 4 MiB')
    },
    alive,
    close: () =>
      turnEnd(
        reasonIn(finishReasons, finish),
        usage.total(),
        () => callsIn(blocks.all()),
        () => echoes.keep(request, blocks.all().flatMap(echoOf)),
      ),
  }
}

/** `grown` gets the block that has grown, and by how much text or thinking. */
function gatherBlocks(grown: (block: Growing, delta: string) => void) {
  const blocks = new Map<unknown, Growing>()
  let size = 0
  return {
    begin(index: unknown, part: unknown): void {
      const block = blockIn(isObject(part) ? part : {})
      blocks.set(index, block)
      size += 256
      grown(block, block.type === 'text' || block.type === 'thinking' ? block.text : '')
    },
    grow(index: unknown, delta: unknown): void {
      const block = blocks.get(index)
      if (!block || !isObject(delta)) return
      const text = textIn(delta.text)
      if (block.type === 'text') block.text += text
      if (block.type === 'tool_use') {
        block.json += textIn(delta.partial_json)
        size += textIn(delta.partial_json).length
      }
      const thinking = textIn(delta.thinking)
      if (block.type === 'thinking') {
        block.text += thinking
        block.signature += textIn(delta.signature)
        size += thinking.length + textIn(delta.signature).length
      }
      grown(block, block.type === 'text' ? text : block.type === 'thinking' ? thinking : '')
    },
    /** Arguments and reasoning gathered so far, in characters; a block counts for 256. */
    size: () => size,
    all: () => [...blocks.values()],
  }
}

/** A thinking block begins empty; the beginning of a tool's block has its name and id. */
function hasOutput(block: Growing): boolean {
  if (block.type === 'text') return block.text !== ''
  if (block.type === 'thinking') return block.text !== '' || block.signature !== ''
  return true
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

function blockIn(part: Fields): Growing {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: textIn(part.text) }
    case 'thinking':
      return { type: 'thinking', text: textIn(part.thinking), signature: textIn(part.signature) }
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: textIn(part.data) }
    case 'tool_use':
      return { type: 'tool_use', id: textIn(part.id), name: textIn(part.name), json: '', input: part.input }
    default:
      return { type: 'other' }
  }
}

const callOf = ({ id, name, json, input }: Extract<Growing, { type: 'tool_use' }>): ToolCall => ({
  id,
  name,
  arguments: json.trim() || JSON.stringify(input ?? {}),
})

const callsIn = (blocks: readonly Growing[]): ToolCall[] =>
  blocks.flatMap((block) => (block.type === 'tool_use' ? [callOf(block)] : []))

/** What goes back with the results. */
function echoOf(block: Growing): Block[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }]
    case 'thinking':
      return [{ type: 'thinking', thinking: block.text, signature: block.signature }]
    case 'redacted_thinking':
      return [block]
    case 'tool_use':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: argumentsOf(callOf(block)) }]
    case 'other':
      return []
  }
}

/** `input_tokens` are those beside the cache: what was read from it and written to it was sent all the same. */
function countUsage() {
  const counts = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 }
  let known = false
  const total = (): End['usage'] =>
    known
      ? {
          promptTokens: counts.input_tokens + counts.cache_creation_input_tokens + counts.cache_read_input_tokens,
          completionTokens: counts.output_tokens,
        }
      : null
  return {
    /** Counts are cumulative; those of the end name only what changed. */
    take(usage: unknown): void {
      if (!isObject(usage)) return
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) {
        const count = usage[name]
        if (!isCount(count)) continue
        counts[name] = count
        known = true
      }
    },
    total,
  }
}
