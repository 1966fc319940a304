/** Tool calls of the chat-completions format, put together from their deltas. */

import { randomUUID } from 'node:crypto'
import type { ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { malformed, type ProviderProblem } from '../wire/failure.ts'
import type { Fields } from '../wire/provider-json.ts'

/** Characters of arguments beyond which a turn is no call but a fault: twice what a model can write in one reply. */
export const maxArguments = 1024 * 1024
/** Tool calls of one turn: more than any vendor's models make. */
export const maxCalls = 128

interface Gathered extends ToolCall {
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
    const known = index !== null ? byIndex.get(index) : id ? calls.find((call) => call.id === id) : calls.at(-1)
    if (known && !startsAnother(known, id, name, text)) return known
    const call = { id, name, arguments: '', isWhole: false, scan: scanObject() }
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
  }
  return {
    /** Null, or why this is no turn of a model. */
    add(delta: Fields): ProviderProblem | null {
      if (Array.isArray(delta.tool_calls)) {
        for (const part of delta.tool_calls.slice(0, maxCalls + 1)) addPart(part)
      }
      if (isObject(delta.function_call)) addPart({ index: 0, function: delta.function_call })
      if (size > maxArguments) return malformed('tool arguments beyond 1 MiB')
      return calls.length > maxCalls ? malformed(`more than ${maxCalls} tool calls`) : null
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
function startsAnother(known: Gathered, id: string, name: string, text: string): boolean {
  if (!name || !known.name) return false
  if (id && known.id) return id !== known.id
  return text !== '' && known.isWhole
}

/** Says after each piece whether all pieces together are one closed object. Parsing them anew each time is quadratic. */
function scanObject(): (text: string) => boolean {
  let depth = 0
  let begun = false
  let inString = false
  let escaped = false
  return (text) => {
    for (const char of text) {
      if (escaped) escaped = false
      else if (inString) {
        if (char === '\\') escaped = true
        else if (char === '"') inString = false
      } else if (char === '"') inString = true
      else if (char === '{' || char === '[') {
        depth += 1
        begun = true
      } else if (char === '}' || char === ']') depth -= 1
    }
    return begun && depth <= 0 && !inString
  }
}
