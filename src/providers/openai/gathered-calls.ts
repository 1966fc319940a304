/** Tool calls of the chat-completions format, put together from their deltas. */

import { randomUUID } from 'node:crypto'
import type { ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { malformed, type ProviderProblem } from '../wire/failure.ts'
import { scanObject } from '../wire/meant-arguments.ts'
import type { Fields } from '../wire/provider-json.ts'

/** Characters of arguments beyond which a turn is no call but a fault: twice what a model can write in one reply. */
export const maxArguments = 1024 * 1024
/** Tool calls of one turn: more than any vendor's models make. */
export const maxCalls = 128

interface Gathered extends ToolCall {
  /** What the vendor wants back with the call, beside it. Null when it sent nothing. */
  extra: Fields | null
  /** Are the arguments a whole object as they stand? */
  isWhole: boolean
  /** Reads on in the arguments. */
  scan(text: string): boolean
}

/** Vendors differ in whether they send indexes, ids and names again. */
export function gatherCalls() {
  const calls: Gathered[] = []
  const byIndex = new Map<number, Gathered>()
  let size = 0

  function callFor(index: number | null, id: string, name: string, text: string): Gathered {
    const last = calls.at(-1)
    // Arguments alone under a new index belong to the call whose head came last.
    const isRest = index !== null && !byIndex.has(index) && !id && !name && text !== '' && last?.isWhole === false
    if (isRest && last) byIndex.set(index, last)
    const known = index !== null ? byIndex.get(index) : id ? calls.find((call) => call.id === id) : last
    if (known && !startsAnother(known, id, name, text)) return known
    const call: Gathered = { id, name, arguments: '', extra: null, isWhole: false, scan: scanObject() }
    calls.push(call)
    if (index !== null) byIndex.set(index, call)
    return call
  }
  function addPart(part: unknown): void {
    if (!isObject(part)) return
    const fn = isObject(part.function) ? part.function : {}
    const id = typeof part.id === 'string' ? part.id : ''
    const name = typeof fn.name === 'string' ? fn.name : ''
    const text =
      typeof fn.arguments === 'string' ? fn.arguments : isObject(fn.arguments) ? JSON.stringify(fn.arguments) : ''
    const call = callFor(typeof part.index === 'number' ? part.index : null, id, name, text)
    call.id ||= id
    call.name ||= name
    call.arguments += text
    call.isWhole = call.scan(text)
    size += text.length
    if (!isObject(part.extra_content)) return
    call.extra = part.extra_content
    size += JSON.stringify(call.extra).length
  }
  const made = () => calls.filter(({ name, arguments: text }) => name !== '' || text !== '')
  return {
    /** Null, or why this is no turn of a model. */
    add(delta: Fields): ProviderProblem | null {
      if (Array.isArray(delta.tool_calls)) {
        for (const part of delta.tool_calls.slice(0, maxCalls + 1)) addPart(part)
      }
      const old = delta.function_call
      if (isObject(old) && (old.name || old.arguments)) addPart({ index: 0, function: old })
      if (size > maxArguments) return malformed('tool arguments beyond 1 MiB')
      return calls.length > maxCalls ? malformed(`more than ${maxCalls} tool calls`) : null
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

/**
 * Is this delta another call under an index already in use? Told by a name together with another id, or with
 * arguments after ones that are whole already. An id alone is no sign: some servers make up a new one for each delta.
 */
function startsAnother(known: Gathered, id: string, name: string, text: string): boolean {
  if (!name || !known.name) return false
  if (id && known.id) return id !== known.id
  return text !== '' && known.isWhole
}
