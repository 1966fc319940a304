/** A turn of a model of the Responses API, read event by event. Pure: no I/O, no time. */

import { randomUUID } from 'node:crypto'
import type { EndReason, ModelEvent, ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { beyondLimit, type ProviderProblem } from '../wire/failure.ts'
import { MAX_ARGUMENTS, MAX_CALLS } from '../wire/growing-call.ts'
import { argumentsIn, meaningOf } from '../wire/meant-arguments.ts'
import { errorIn, isTypedError, problemInStream, problemOfText } from '../wire/provider-errors.ts'
import type { Fields } from '../wire/provider-json.ts'
import { parseEvent, type Repeated } from '../wire/repeated.ts'
import { responsesUsage } from '../wire/reported-usage.ts'
import { type End, turnEnd } from '../wire/turn-end.ts'
import { addActivity, type Turn } from '../wire/turn-stream.ts'
import { echoOf, messageText, reasoningTexts } from './responses-items.ts'

export interface ResponsesTurnOptions {
  /** True when reasoning is emitted as events. */
  reasoning: boolean
  /** The parts of the request that events repeat. */
  repeated: Repeated
  /** Makes the echo of a turn's items. */
  keepEcho(items: NonNullable<ReturnType<typeof echoOf>>): object
}

/** The place of items from servers that do not report one. */
const NO_PLACE = -1

/** Returns the place of an item in the output, which identifies it: ids of items may change between their events. */
const placeOf = ({ output_index: place }: Fields): number => (typeof place === 'number' ? place : NO_PLACE)

/** The most output items of one turn: reasoning, texts and calls. */
const MAX_ITEMS = 2 * MAX_CALLS + 100

/** An item as it was read. */
interface Read {
  place: number
  item: Fields
  /** The normalized arguments of a call. Empty for other items. */
  meaning: string
}

/** Converts the arguments of a call to text, since some servers send the object. */
function readAs(place: number, item: Fields): Read {
  if (item.type !== 'function_call') return { place, item, meaning: '' }
  const text = argumentsIn(item.arguments)
  return { place, item: { ...item, arguments: text }, meaning: meaningOf(text) }
}

/**
 * Returns whether two items under one place differ: in kind, or as calls in id, name or meaning. `{}` differs from no
 * other arguments.
 */
function isAnother(known: Read, read: Read): boolean {
  if (known.item.type !== read.item.type) return true
  if (read.item.type !== 'function_call') return false
  if (known.item.call_id !== read.item.call_id || known.item.name !== read.item.name) return true
  return known.meaning !== read.meaning && known.meaning !== '{}' && read.meaning !== '{}'
}

/** Returns the identity of a call, whatever its arguments. Null for other items and calls without an id. */
const headOf = ({ type, call_id: id, name }: Fields): string | null =>
  type === 'function_call' && stringIn(id) !== '' ? JSON.stringify([id, name]) : null

function countHeads(items: readonly Fields[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) {
    const head = headOf(item)
    if (head !== null) counts.set(head, (counts.get(head) ?? 0) + 1)
  }
  return counts
}

const stringIn = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Reads the items of a turn, and emits their text and reasoning. */
function readItems(events: ModelEvent[], reasoning: boolean) {
  const items: Read[] = []
  const text = partsShown('')
  const thought = partsShown('\n\n')
  const say = (shown: string) => {
    if (shown !== '') events.push({ type: 'text', text: shown })
    else addActivity(events)
  }
  const think = (shown: string) => {
    if (reasoning && shown !== '') events.push({ type: 'reasoning', text: shown })
    else addActivity(events, shown !== '')
  }
  /** A flag that is false once a place was missing, or two items stood under one. */
  let hasPlaces = true

  function placeNamed(event: Fields): number {
    const place = placeOf(event)
    hasPlaces &&= place !== NO_PLACE
    return place
  }
  function add(read: Read): ProviderProblem | null {
    const { place, item } = read
    items.push(read)
    if (item.type === 'message') say(text.whole(place, [messageText(item)]))
    else if (item.type === 'reasoning') think(thought.whole(place, reasoningTexts(item)))
    else addActivity(events, item.type === 'function_call')
    if (stringIn(item.arguments).length > MAX_ARGUMENTS) return beyondLimit('tool arguments beyond 1 MiB')
    return items.length > MAX_ITEMS ? beyondLimit(`more than ${MAX_ITEMS} items`) : null
  }
  function listedAt(place: number, item: Fields, isKnown: (head: string) => boolean): ProviderProblem | null {
    if (hasPlaces) return items.some((one) => one.place === place) ? null : add(readAs(place, item))
    const isShown = item.type === 'message' ? text.hasAny() : item.type === 'reasoning' && thought.hasAny()
    const head = headOf(item)
    if (isShown || (head !== null && isKnown(head))) return null
    const read = readAs(NO_PLACE, item)
    return items.some((one) => !isAnother(one, read)) ? null : add(read)
  }
  return {
    said: (event: Fields) => say(text.delta(placeNamed(event), 0, stringIn(event.delta))),
    thought: (event: Fields, part: unknown) => think(thought.delta(placeNamed(event), part, stringIn(event.delta))),
    /** Reads a whole item. Servers that send no deltas are read here. */
    done(event: Fields, item: Fields): ProviderProblem | null {
      const place = placeNamed(event)
      const read = readAs(place, item)
      const here = place === NO_PLACE ? [] : items.filter((one) => one.place === place)
      if (here.some((one) => !isAnother(one, read))) return null
      hasPlaces &&= here.length === 0
      return add(read)
    },
    /**
     * Reads the whole output, which the end repeats or brings alone. Without places an item is identified by its
     * content, and a call by its id and name: its arguments may be written otherwise here. Only calls in excess of
     * those already read are new.
     */
    listed(output: readonly Fields[]): ProviderProblem | null {
      const read = countHeads(items.map(({ item }) => item))
      const listed = countHeads(output)
      const isKnown = (head: string) => (listed.get(head) ?? 0) <= (read.get(head) ?? 0)
      let problem: ProviderProblem | null = null
      for (const [place, item] of output.entries()) problem ??= listedAt(place, item, isKnown)
      return problem
    },
    hasAny: () => items.length > 0 || text.hasAny(),
    /** Returns the items in the order of their places, or in order of arrival where places are unreliable. */
    inOrder: (): Fields[] => (hasPlaces ? items.toSorted((a, b) => a.place - b.place) : items).map(({ item }) => item),
  }
}

export function readResponsesTurn({ reasoning, repeated, keepEcho }: ResponsesTurnOptions): Turn {
  const events: ModelEvent[] = []
  const items = readItems(events, reasoning)
  let problem: ProviderProblem | null = null
  let reason: EndReason | null = null
  let usage: End['usage'] = null
  let refusal = ''

  function end(response: Fields, whole: string): void {
    usage = responsesUsage(response.usage) ?? usage
    const { status, error, incomplete_details: details } = response
    if (status === 'failed' || status === 'cancelled' || isObject(error)) {
      problem = problemInStream(error ?? { message: `the response is ${status}` }, whole)
      return
    }
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : []
    problem ??= items.listed(output)
    reason = status === 'incomplete' ? cutReason(isObject(details) ? details.reason : null) : 'stop'
  }
  const readers: Readonly<Record<string, (event: Fields, data: string) => void>> = {
    'response.output_text.delta': items.said,
    'response.refusal.delta': (event) => {
      refusal += stringIn(event.delta)
      items.said(event)
    },
    'response.reasoning_summary_text.delta': (event) => items.thought(event, event.summary_index),
    'response.reasoning_text.delta': (event) => items.thought(event, event.content_index),
    'response.function_call_arguments.delta': () => addActivity(events, true),
    'response.output_item.done': (event) => {
      if (isObject(event.item)) problem = items.done(event, event.item)
    },
    'response.completed': (event, data) => end(Object(event.response), data),
    'response.incomplete': (event, data) => end({ ...Object(event.response), status: 'incomplete' }, data),
    'response.failed': (event, data) => end({ ...Object(event.response), status: 'failed' }, data),
    error: (event, data) => {
      problem = problemInStream(isObject(event.error) ? event.error : event, data)
    },
  }
  function take(data: string, eventName?: string): void {
    if (problem || reason !== null || data === '') return
    if (data.trim() === '[DONE]') {
      // `[DONE]` of a gateway: the output is complete, though no event reported its end.
      if (items.hasAny()) reason = 'stop'
      return
    }
    const event = parseEvent(data, repeated)
    if (!isObject(event)) {
      problem = problemOfText(data, eventName)
      return
    }
    const type = stringIn(event.type) || (eventName ?? '')
    // An answer without streaming, or an error's body without an event around it.
    const error = type === '' ? errorIn(event, ['output', 'object']) : null
    if (type === '' && event.object === 'response') end(event, data)
    else if (error) problem = problemInStream(error, data)
    else if (Object.hasOwn(readers, type)) readers[type]?.(event, data)
    else if (eventName === 'error' || isTypedError(event)) problem = problemInStream(errorIn(event, []) ?? event, data)
    else addActivity(events)
  }
  return {
    events,
    problem: () => problem,
    done: () => reason !== null,
    finished: () => reason !== null,
    take,
    alive: () => addActivity(events),
    close: () =>
      turnEnd(
        reason ?? 'stop',
        usage,
        () => items.inOrder().flatMap(callOf),
        () => {
          const kept = echoOf(items.inOrder())
          return kept && keepEcho(kept)
        },
        refusal || null,
      ),
  }
}

/** Tracks which parts of texts were shown, and separates two parts by `gap`. */
function partsShown(gap: string) {
  const started = new Set<number>()
  let last = ''
  let hasShown = false
  const shown = (part: string, added: string): string => {
    const apart = last !== '' && last !== part ? gap : ''
    last = part
    return `${apart}${added}`
  }
  return {
    delta(place: number, part: unknown, added: string): string {
      started.add(place)
      hasShown ||= added !== ''
      return added === '' ? '' : shown(`${place} ${typeof part === 'number' ? part : 0}`, added)
    },
    /** Returns the parts of an item that came without deltas. */
    whole(place: number, parts: readonly string[]): string {
      // The next item without a place is a different one.
      if (place === NO_PLACE ? started.delete(place) : started.has(place)) return ''
      hasShown = true
      return parts.map((added, index) => (added === '' ? '' : shown(`${place} ${index}`, added))).join('')
    },
    /** Returns whether any text was shown. */
    hasAny: () => hasShown,
  }
}

const cutReason = (word: unknown): EndReason =>
  word === 'max_output_tokens' ? 'length' : word === 'content_filter' ? 'content_filter' : 'stop'

function callOf(item: Fields): ToolCall[] {
  if (item.type !== 'function_call' || stringIn(item.name) === '') return []
  const id = stringIn(item.call_id) || `call_${randomUUID()}`
  return [{ id, name: stringIn(item.name), arguments: stringIn(item.arguments) }]
}
