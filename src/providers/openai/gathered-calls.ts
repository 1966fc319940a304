/** Tool calls of the chat-completions format, put together from their deltas. */

import { randomUUID } from 'node:crypto'
import type { ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { malformed, type ProviderProblem } from '../wire/failure.ts'
import {
  appendTo,
  beginCall,
  type GrowingCall,
  MAX_ARGUMENTS,
  MAX_CALLS,
  withoutRepeats,
} from '../wire/growing-call.ts'
import { argumentsIn } from '../wire/meant-arguments.ts'
import type { Fields } from '../wire/provider-json.ts'

interface Gathered extends GrowingCall {
  /** Fields that the vendor wants back next to the call. Null when it sent none. */
  extra: Fields | null
}

/** A call's fields in one delta. */
interface Part {
  index: number | null
  id: string
  name: string
  text: string
}

/** Vendors differ in whether they send indexes, ids and names again. */
export function gatherCalls() {
  const calls: Gathered[] = []
  const byIndex = new Map<number, Gathered>()
  let size = 0

  /** `beside`: what other parts of the same delta belong to. */
  function callFor(part: Part, beside: ReadonlySet<Gathered>): Gathered {
    const { index, id, name, text } = part
    const last = calls.at(-1)
    // Arguments alone under a new index belong to the call whose head came last.
    const isRest = index !== null && !byIndex.has(index) && !id && !name && text !== '' && last?.isWhole === false
    if (isRest && last) byIndex.set(index, last)
    const found = index !== null ? byIndex.get(index) : id ? newestOf(id, name) : last
    // Two heads in one delta, or in an answer without streaming, are two calls where no index, or one id and name, says
    // otherwise.
    const isBeside = found !== undefined && index === null && name !== '' && beside.has(found)
    const isSame = id !== '' && found?.id === id && found.name === name
    const known = isBeside && !isSame ? undefined : found
    const step = known ? stepOf(known, part) : 'another'
    if (known && step === 'more') return known
    const repeated = step === 'again' ? known : undefined
    const call = { ...beginCall(id, name, repeated?.repeatGroup), extra: repeated?.extra ?? null }
    calls.push(call)
    if (index !== null) byIndex.set(index, call)
    return call
  }
  const newestOf = (id: string, name: string) =>
    calls.findLast((call) => call.id === id && (!name || !call.name || call.name === name))

  function addPart(sent: unknown, beside: Set<Gathered>): void {
    if (!isObject(sent)) return
    const part = partIn(sent)
    const call = callFor(part, beside)
    beside.add(call)
    call.id ||= part.id
    call.name ||= part.name
    appendTo(call, part.text)
    size += part.text.length
    if (!isObject(sent.extra_content)) return
    call.extra = sent.extra_content
    size += JSON.stringify(call.extra).length
  }
  const made = () => withoutRepeats(calls.filter(({ name, arguments: text }) => name !== '' || text !== ''))
  return {
    /** Null, or why this is no turn of a model. */
    add(delta: Fields): ProviderProblem | null {
      if (Array.isArray(delta.tool_calls)) {
        const beside = new Set<Gathered>()
        for (const part of delta.tool_calls.slice(0, MAX_CALLS + 1)) addPart(part, beside)
      }
      const old = delta.function_call
      if (isObject(old) && (old.name || old.arguments)) addPart({ index: 0, function: old }, new Set())
      if (size > MAX_ARGUMENTS) return malformed('tool arguments beyond 1 MiB')
      return calls.length > MAX_CALLS ? malformed(`more than ${MAX_CALLS} tool calls`) : null
    },
    /** Calls without an id get one; those without name and arguments are none. */
    all: (): ToolCall[] =>
      made().map((call) => ({ id: call.id || `call_${randomUUID()}`, name: call.name, arguments: call.arguments })),
    /** What goes back beside each call, in the order of `all`. It is null when no call has anything. */
    extras(): (Fields | null)[] | null {
      const extras = made().map(({ extra }) => extra)
      return extras.some((extra) => extra !== null) ? extras : null
    },
  }
}

function partIn(sent: Fields): Part {
  const fn = isObject(sent.function) ? sent.function : {}
  return {
    index: typeof sent.index === 'number' ? sent.index : null,
    id: typeof sent.id === 'string' ? sent.id : '',
    name: typeof fn.name === 'string' ? fn.name : '',
    text: argumentsIn(fn.arguments),
  }
}

/**
 * What a part is to a call under its index or id: more of it, another call, or that call said again, which only the end
 * tells from another one of the same id. Told by a name: another one, one together with another id, or one with arguments
 * after ones that are whole already. An id alone is no sign: some servers make up a new one for each delta. Another name
 * under the index of a call that has no arguments yet is its own, where it stands without the id, or only in other letters.
 */
function stepOf(known: Gathered, part: Part): 'more' | 'again' | 'another' {
  const { id, name, text } = part
  if (!name || !known.name) return 'more'
  const hasIds = id !== '' && known.id !== ''
  if (hasIds && id !== known.id) return 'another'
  if (name !== known.name && (known.isWhole || !isOwnName(known, part))) return 'another'
  if (text === '' || !known.isWhole) return 'more'
  return hasIds ? 'again' : 'another'
}

const isOwnName = (known: Gathered, { index, id, name }: Part): boolean =>
  index !== null && known.id !== '' && (id === '' || name.toLowerCase() === known.name.toLowerCase())
