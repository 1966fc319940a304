/**
 * Checks tool arguments against JSON Schema. A schema may come from an untrusted MCP server: checks that take bounded
 * time are made here, the rest by a process that is terminated when it takes too long.
 */

import { setImmediate } from 'node:timers/promises'
import { EXTREME, holdsExtreme } from '../../untrusted/exact-json.ts'
import { isObject } from '../../untrusted/is-object.ts'
import type { SchemaJob } from './schema-child.ts'
import { createSchemaProcess } from './schema-process.ts'

export type JsonSchema = Record<string, unknown>

/** The most values of a schema. An object schema of 64 KiB has 3,000. */
const MAX_VALUES = 5_000
const MAX_SCHEMA_BYTES = 65_536
const MAX_DEPTH = 64

const TOO_SLOW = 'is not usable: it takes too long to apply'
const CANNOT_CHECK = 'the arguments cannot be checked: the input schema of the tool takes too long to apply'

const applier = createSchemaProcess()

/**
 * Checks that this is a JSON Schema of an object (contract section 2). Resolves with null when it is, otherwise with
 * the reason.
 */
export async function checkSchema(schema: unknown): Promise<string | null> {
  const flaw = flawOfShape(schema)
  if (flaw !== null || !isObject(schema)) return flaw ?? 'must be a JSON object'
  if (holdsExtreme(schema)) return EXTREME
  const text = JSON.stringify(schema)
  const reasons = await applier.ask({ kind: 'is_usable', schema: text }, text)
  return reasons === null ? TOO_SLOW : (reasons[0] ?? null)
}

/**
 * Checks, like `checkSchema`, all schemas that one server offers, without compiling them: the first call does that,
 * since few of hundreds of tools are ever called. A reference may not point outside its schema.
 */
export async function checkSchemas(schemas: readonly JsonSchema[], owner: string): Promise<(string | null)[]> {
  const flaws: (string | null)[] = []
  for (const schema of schemas) {
    flaws.push(flawOfShape(schema) ?? flawOfReferences(schema))
    if (flaws.length % 20 === 0) await setImmediate()
  }
  const good = schemas.filter((_, index) => flaws[index] === null)
  if (good.length === 0) return flaws
  const reasons = await applier.ask({ kind: 'are_schemas', schemas: good }, owner)
  let next = 0
  return flaws.map((flaw) => flaw ?? (reasons === null ? TOO_SLOW : (reasons[next++] ?? null)))
}

/**
 * Checks arguments. Resolves with null when they are valid, otherwise with the reason, for the model. `owner`: whose
 * schema it is; an owner whose schema took too long is queued after all others for a while.
 */
export async function checkArguments(schema: JsonSchema, args: unknown, owner: string): Promise<string | null> {
  const flaw = flawOfShape(schema)
  if (flaw !== null) return `the input schema of the tool ${flaw}`
  const reasons = await applier.ask(checkOf(schema, args), owner)
  if (reasons === null) return CANNOT_CHECK
  const [reason = null] = reasons
  return reason?.startsWith('is not ') ? `the input schema of the tool ${reason}` : reason
}

/** Returns whether a value matches a schema. Null when that cannot be told: the schema takes too long, or is not usable. */
export async function matches(schema: JsonSchema, value: unknown, owner: string): Promise<boolean | null> {
  if (flawOfShape(schema) !== null) return null
  const reasons = await applier.ask(checkOf(schema, value), owner).catch(() => null)
  if (reasons === null) return null
  const [reason] = reasons
  return reason == null ? true : reason.startsWith('is not ') ? null : false
}

const checkOf = (schema: JsonSchema, args: unknown): SchemaJob => ({
  kind: 'check',
  schema: JSON.stringify(schema),
  args: JSON.stringify(args ?? null),
})

/** Checks whatever takes bounded time and no recursion for any parsed value. */
function flawOfShape(schema: unknown): string | null {
  if (!isObject(schema)) return 'must be a JSON object'
  if (schema.type !== undefined && !(Array.isArray(schema.type) ? schema.type : [schema.type]).includes('object')) {
    return 'must describe an object: "type" is to be "object"'
  }
  let level: unknown[] = [schema]
  let values = 0
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`
    values += level.length
    if (values > MAX_VALUES) return `must not hold more than ${MAX_VALUES} values`
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  const tooLarge = Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES
  return tooLarge ? `must not be larger than ${MAX_SCHEMA_BYTES / 1024} KiB` : null
}

/** Returns whether a provider would refuse the whole request because of this schema. */
function flawOfReferences(schema: JsonSchema): string | null {
  const own = typeof schema.$id === 'string' ? schema.$id : null
  for (let level: unknown[] = [schema]; level.length > 0; ) {
    for (const value of level) {
      const to = isObject(value) ? value.$ref : undefined
      if (typeof to !== 'string' || to.startsWith('#') || (own !== null && to.startsWith(own))) continue
      return `is not usable: can't resolve reference ${to.slice(0, 100)}`
    }
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return null
}
