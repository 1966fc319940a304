/** How large the tools and schemas of a request may be (contract section 35). */
import { isObject } from '../../../untrusted/is-object.ts'
import { badRequest } from '../http-error.ts'

const MOST_BYTES = 128 * 1024
const MOST_PROPERTIES = 5000
const MOST_BYTES_TOGETHER = 1024 * 1024

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value ?? null))

/** Throws 400 for a schema that is too large. `where`: the field's name. */
export function refuseLargeSchema(schema: unknown, where: string): void {
  if (bytesOf(schema) > MOST_BYTES) badRequest(`${where}: must be a schema of at most 128 KiB`)
  if (propertiesIn(schema) > MOST_PROPERTIES) {
    badRequest(`${where}: must be a schema of at most ${MOST_PROPERTIES} properties`)
  }
}

/** Throws 400 for tools that are too large together with the format of the answer. */
export function refuseLargeTogether(tools: unknown, format: unknown): void {
  if (bytesOf(tools) + bytesOf(format) <= MOST_BYTES_TOGETHER) return
  badRequest('tools: must hold at most 1 MiB, together with the schema of response_format')
}

/** Counts the members of `properties`, at any depth. */
function propertiesIn(schema: unknown): number {
  let count = 0
  const rest: unknown[] = [schema]
  while (rest.length > 0) {
    const value = rest.pop()
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (name === 'properties' && isObject(member)) count += Object.keys(member).length
      rest.push(member)
    }
  }
  return count
}
