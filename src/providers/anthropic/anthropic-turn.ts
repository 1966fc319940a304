/** A turn of Anthropic's Messages API, read event by event. Pure: no I/O, no time. */

import type { ModelEvent, ModelRequest, ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { argumentsOf } from '../request/exchanges.ts'
import { beyondLimit, malformed, ProviderProblem } from '../wire/failure.ts'
import { appendTo, beginCall, type GrowingCall, MAX_ARGUMENTS, withoutRepeats } from '../wire/growing-call.ts'
import { argumentsIn, meaningOf, meantArguments } from '../wire/meant-arguments.ts'
import { errorIn, isTypedError, problemInStream, problemOfText } from '../wire/provider-errors.ts'
import { type Fields, parse } from '../wire/provider-json.ts'
import { gatherAnthropicUsage } from '../wire/reported-usage.ts'
import { isUnknownEnd, type ReasonWords, reasonIn, turnEnd } from '../wire/turn-end.ts'
import { addActivity, type Turn } from '../wire/turn-stream.ts'
import { type Block, echoes } from './anthropic-body.ts'

/** The most characters of arguments and reasoning in one turn. */
const MAX_GATHERED = 4 * MAX_ARGUMENTS

const finishReasons: ReasonWords = {
  stop: ['end_turn', 'stop_sequence'],
  length: ['max_tokens', 'model_context_window_exceeded'],
  content_filter: ['refusal'],
  tool_calls: ['tool_use'],
}

/** A content block as it grows. Content of other kinds, such as that of server tools, is not kept. */
type Growing =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | Use
  | { type: 'other' }

interface Use extends GrowingCall {
  type: 'tool_use'
  /** The arguments that came with the beginning. They count when none follow in pieces. */
  input: string
}

export function readAnthropicTurn(request: Pick<ModelRequest, 'provider' | 'model' | 'reasoning'>): Turn {
  const events: ModelEvent[] = []
  const usage = gatherAnthropicUsage()
  let problem: ProviderProblem | null = null
  let done = false
  let finish: string | null = null
  let refusal: string | null = null

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
  function stop({ stop_reason: reason, stop_details: details }: Fields, data: string): void {
    if (typeof reason !== 'string') return
    finish = reason
    if (isObject(details)) refusal = textIn(details.explanation) || textIn(details.category) || null
    if (blocks.all().length === 0 && isUnknownEnd(finishReasons, reason)) {
      problem = new ProviderProblem({ kind: 'reported', reason: `the model ended with ${reason}`, full: data })
    }
    // Only tools that run at the vendor pause a turn. None is requested, and half a reply must not look whole.
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
      stop(isObject(event.delta) ? event.delta : {}, data)
    } else if (event.type === 'message_stop') done = true
    else if (event.type === 'error') problem = problemInStream(errorIn(event, []) ?? event, data)
    else if (event.type === 'message') {
      // A whole message: a proxy in between does not stream.
      for (const [index, part] of Array.isArray(event.content) ? event.content.entries() : []) blocks.begin(index, part)
      count(event.usage)
      stop(event, data)
    } else if (isTypedError(event)) problem = problemInStream(event, data)
    else alive() // ping, content_block_stop and future events: unknown ones are to be ignored
  }
  return {
    events,
    problem: () => problem,
    done: () => done,
    finished: () => finish !== null,
    take(data, eventName) {
      if (problem || done || data === '') return
      const event = parse(data)
      if (!isObject(event)) problem = problemOfText(data, eventName)
      else if (eventName === 'error') takeEvent({ ...event, type: 'error' }, data)
      else if (typeof event.type === 'string') takeEvent(event, data)
      else {
        const error = errorIn(event, ['content'])
        problem = error ? problemInStream(error, data) : malformed(data)
      }
      if (blocks.size() > MAX_GATHERED) problem ??= beyondLimit('tool arguments and reasoning beyond 4 MiB')
    },
    alive,
    close: () =>
      turnEnd(
        reasonIn(finishReasons, finish),
        usage.total(),
        () => callsIn(blocks.all()),
        () => echoes.keep(request, blocks.all().flatMap(echoOf)),
        refusal,
      ),
  }
}

/** Gathers the blocks of a turn. `grown` gets the block that has grown, and the added text or thinking. */
function gatherBlocks(grown: (block: Growing, delta: string) => void) {
  const blocks: Growing[] = []
  const byIndex = new Map<unknown, Growing>()
  let size = 0

  function add(index: unknown, block: Growing): Growing {
    blocks.push(block)
    byIndex.set(index, block)
    size += 256
    return block
  }
  /**
   * Finds the block that a delta belongs to. Text whose block never began, or is of another kind, begins a text block.
   * Such arguments belong to the newest call, and where that has its own, to a call whose head is still to come. Blanks
   * belong to none.
   */
  function blockFor(index: unknown, text: string, thinking: string, json: string): Growing | undefined {
    const known = byIndex.get(index)
    if (known?.type === 'other') return known
    if (text !== '' && known?.type !== 'text') return add(index, blockIn({ type: 'text' }))
    if (thinking !== '' && known?.type !== 'thinking') return add(index, blockIn({ type: 'thinking' }))
    if (json === '' || (known?.type === 'tool_use' && !isHeadless(known))) return known
    const last = blocks.findLast((block) => block.type === 'tool_use' && !isHeadless(block))
    if (last?.type === 'tool_use' && (!last.isWhole || sentArguments(last) === '{}')) return last
    return known?.type === 'tool_use' || json.trim() === '' ? known : add(index, blockIn({ type: 'tool_use' }))
  }
  return {
    begin(index: unknown, part: unknown): void {
      const block = blockIn(isObject(part) ? part : {})
      const known = byIndex.get(index)
      // A gateway may send a beginning twice; another call under an index in use is separate.
      if (known?.type === 'tool_use' && block.type === 'tool_use') {
        if (belongsTo(known, block)) return
      } else if (known?.type === block.type) return
      add(index, block)
      grown(block, block.type === 'text' || block.type === 'thinking' ? block.text : '')
    },
    grow(index: unknown, delta: unknown): void {
      if (!isObject(delta)) return
      const text = textIn(delta.text)
      const thinking = textIn(delta.thinking)
      const block = blockFor(index, text, thinking, textIn(delta.partial_json))
      if (!block) return
      if (block.type === 'text') block.text += text
      if (block.type === 'tool_use') {
        const json = textIn(delta.partial_json)
        appendTo(block, json)
        size += json.length
      }
      if (block.type === 'thinking') {
        block.text += thinking
        block.signature += textIn(delta.signature)
        size += thinking.length + textIn(delta.signature).length
      }
      grown(block, block.type === 'text' ? text : block.type === 'thinking' ? thinking : '')
    },
    /** Returns the arguments and reasoning gathered so far, in characters; a block counts for 256. */
    size: () => size,
    all: () => settled(blocks),
  }
}

/**
 * Settles the arguments of calls and removes repeats. Arguments without a head belong to a call that has none, unless
 * another call has the same.
 */
function settled(blocks: readonly Growing[]): readonly Growing[] {
  const uses = blocks.filter((block) => block.type === 'tool_use')
  const begun = uses.filter((use) => !isHeadless(use))
  const meanings = new Set(begun.map((use) => meaningOf(sentArguments(use))))
  const lost = uses.filter((use) => isHeadless(use) && !meanings.has(meaningOf(sentArguments(use))))
  const found = new Map(begun.filter(hasNoArguments).map((use, at) => [use, lost[at] ?? use]))
  const argumentsOfCall = (use: Use) => (found.get(use) ?? use).arguments.trim() || use.input
  const settledUses = new Map<Growing, Use>(begun.map((use) => [use, { ...use, arguments: argumentsOfCall(use) }]))
  const kept = new Set<Growing>(withoutRepeats([...settledUses.values()]))
  return blocks
    .map((block) => settledUses.get(block) ?? block)
    .filter((block) => block.type !== 'tool_use' || kept.has(block))
}

/** Returns whether this beginning belongs to the call under the same index, whose arguments may have come first. */
function belongsTo(known: Use, begun: Use): boolean {
  if (isHeadless(known)) {
    known.id = begun.id
    known.name = begun.name
    known.input = begun.input
    return true
  }
  if (known.id !== begun.id || known.name !== begun.name) return false
  // Only the end shows whether this is another call or a repeat.
  begun.repeatGroup = known.repeatGroup
  return known.arguments !== '' && !known.isWhole
}

/** Returns whether the call has arguments only, and no head yet. */
const isHeadless = ({ id, name }: Use): boolean => id === '' && name === ''

const hasNoArguments = (use: Use): boolean => meantArguments(sentArguments(use)) === '{}'

const sentArguments = ({ arguments: pieces, input }: Use): string => pieces.trim() || input

/**
 * Returns whether the model has produced output in a block. A thinking block begins empty; the beginning of a tool's
 * block has its name and id.
 */
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
      return useIn(part)
    default:
      return { type: 'other' }
  }
}

function useIn(part: Fields): Use {
  const input = argumentsIn(part.input)
  const isWhole = input !== '' && input !== '{}'
  return { type: 'tool_use', ...beginCall(textIn(part.id), textIn(part.name)), input, isWhole }
}

const callOf = ({ id, name, arguments: sent }: Use): ToolCall => ({ id, name, arguments: meantArguments(sent) })

const callsIn = (blocks: readonly Growing[]): ToolCall[] =>
  blocks.flatMap((block) => (block.type === 'tool_use' ? [callOf(block)] : []))

/** Returns the blocks to send back with the results. */
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
