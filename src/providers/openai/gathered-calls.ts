/** Tool calls of the chat-completions format, assembled from their deltas. */

import { randomUUID } from 'node:crypto'
import type { ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { beyondLimit, type ProviderProblem } from '../wire/failure.ts'
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

/** Gathers the tool calls of a turn. Vendors differ in whether they send indexes, ids and names again. */
export function gatherCalls() {
  const calls: Gathered[] = []
  const byIndex = new Map<number, Gathered>()
  let size = 0

  /** Finds or begins the call that a part belongs to. `sameDelta`: the calls of other parts of the same delta. */
  function callFor(part: Part, sameDelta: ReadonlySet<Gathered>): Gathered {
    const { index, id, name, text } = part
    const last = calls.at(-1)
    // Arguments alone under a new index belong to the call whose head came last.
    const isRest = index !== null && !byIndex.has(index) && !id && !name && text !== '' && last?.isWhole === false
    if (isRest && last) byIndex.set(index, last)
    const found = index !== null ? byIndex.get(index) : id ? newestOf(id, name) : last
    // Two heads in one delta, or in a response without streaming, are two calls unless an index, or a shared id and
    // name, shows otherwise.
    const isSecondHead = found !== undefined && index === null && name !== '' && sameDelta.has(found)
    const isSame = id !== '' && found?.id === id && found.name === name
    const known = isSecondHead && !isSame ? undefined : found
    const relation = known ? relationOf(known, part) : 'another'
    if (known && relation === 'continues') return known
    const repeated = relation === 'repeats' ? known : undefined
    const call = { ...beginCall(id, name, repeated?.repeatGroup), extra: repeated?.extra ?? null }
    calls.push(call)
    if (index !== null) byIndex.set(index, call)
    return call
  }
  const newestOf = (id: string, name: string) =>
    calls.findLast((call) => call.id === id && (!name || !call.name || call.name === name))

  function addPart(sent: unknown, sameDelta: Set<Gathered>): void {
    if (!isObject(sent)) return
    const part = partIn(sent)
    const call = callFor(part, sameDelta)
    sameDelta.add(call)
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
    /** Reads a delta. Returns null, or why this is no turn of a model. */
    add(delta: Fields): ProviderProblem | null {
      if (Array.isArray(delta.tool_calls)) {
        const sameDelta = new Set<Gathered>()
        for (const part of delta.tool_calls.slice(0, MAX_CALLS + 1)) addPart(part, sameDelta)
      }
      const old = delta.function_call
      if (isObject(old) && (old.name || old.arguments)) addPart({ index: 0, function: old }, new Set())
      if (size > MAX_ARGUMENTS) return beyondLimit('tool arguments beyond 1 MiB')
      return calls.length > MAX_CALLS ? beyondLimit(`more than ${MAX_CALLS} tool calls`) : null
    },
    /** Returns the calls. Calls without an id get one; those without name and arguments are none. */
    all: (): ToolCall[] =>
      made().map((call) => ({ id: call.id || `call_${randomUUID()}`, name: call.name, arguments: call.arguments })),
    /** Returns the fields to send back with each call, in the order of `all`. Null when no call has any. */
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
 * Decides whether a delta continues the call under its index or id, starts another, or repeats it. Only the end
 * distinguishes a repeat from another call of the same id. A new call shows by its name: another name, a name together
 * with another id, or a name with arguments after ones that are whole already. An id alone is no sign: some servers
 * make up a new one for each delta. A different name under the index of a call without arguments belongs to that call
 * when it comes without the id, or differs in case only.
 */
function relationOf(known: Gathered, part: Part): 'continues' | 'repeats' | 'another' {
  const { id, name, text } = part
  if (!name || !known.name) return 'continues'
  const hasIds = id !== '' && known.id !== ''
  if (hasIds && id !== known.id) return 'another'
  if (name !== known.name && (known.isWhole || !isOwnName(known, part))) return 'another'
  if (text === '' || !known.isWhole) return 'continues'
  return hasIds ? 'repeats' : 'another'
}

const isOwnName = (known: Gathered, { index, id, name }: Part): boolean =>
  index !== null && known.id !== '' && (id === '' || name.toLowerCase() === known.name.toLowerCase())
