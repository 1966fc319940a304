/**
 * Checks of tool arguments against JSON Schema. A schema may come from an MCP server that nobody here wrote: it is
 * bounded in size, its references never leave it, and no check of it takes the process for longer than a moment.
 */
import vm from 'node:vm'
import { Ajv, type ErrorObject, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'

export type JsonSchema = Record<string, unknown>

/** Null: the arguments fit. Otherwise why not, fit to be read by the model. */
export type CheckArguments = (args: unknown) => string | null

const MAX_SCHEMA_BYTES = 65_536
const MAX_DEPTH = 64
/** Wall-clock time of one check; a usual one takes microseconds. A pattern or a web of references may take forever. */
const CHECK_MS = 100
/** Compiling 64 KiB of schema on a busy machine takes some hundred milliseconds. */
const COMPILE_MS = 2_000
/** A schema whose check ran out of time is not tried again for so long: each try stops the whole process. */
const REFUSED_MS = 60_000
const MAX_KEPT = 256

const CANNOT_CHECK = 'the arguments cannot be checked: the input schema of the tool takes too long to apply'

type AjvClass = new (options: Options) => Ajv

// Formats are annotations (2020-12 says so); strict mode is about style, which is the business of the schema's author.
const options: Options = {
  ...{ strict: false, logger: false, validateFormats: false, inlineRefs: false },
  ownProperties: true, // "constructor" is a name like others
}

/** Meta-schemas take 50 ms to compile, so one instance of each dialect is kept, for nothing else. */
const metaOf = new Map<AjvClass, Ajv>()

/** Compiled checks by the schema's text, the least recently used first. */
const kept = new Map<string, CheckArguments>()

/** Whether this is a JSON Schema of an object (contract section 2). Null: it is; otherwise why not. */
export function checkSchema(schema: unknown): string | null {
  const flaw = flawOfShape(schema)
  if (flaw !== null || !isObject(schema)) return flaw ?? 'must be a JSON object'
  const compiled = compile(schema)
  return typeof compiled === 'string' ? compiled : null
}

/** The check of a tool's arguments. It never throws: where the schema is broken, it says so for all arguments. */
export function compileArguments(schema: JsonSchema): CheckArguments {
  const flaw = flawOfShape(schema)
  if (flaw !== null) return () => `the input schema of the tool ${flaw}`
  const compiled = compile(schema)
  return typeof compiled === 'string' ? () => `the input schema of the tool ${compiled}` : compiled
}

function compile(schema: JsonSchema): CheckArguments | string {
  const text = JSON.stringify(schema)
  const known = kept.get(text)
  if (known !== undefined) {
    kept.delete(text)
    kept.set(text, known)
    return known
  }
  // "$schema" picks the dialect here. "$async" would make promises of the checks.
  const { $schema, $async, ...plain } = schema
  let reason = ''
  for (const dialect of dialectsOf($schema)) {
    const compiled = compileAs(dialect, plain)
    if (typeof compiled !== 'string') {
      kept.set(text, compiled)
      for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(oldest)
      return compiled
    }
    reason ||= compiled
  }
  return reason
}

function dialectsOf(uri: unknown): AjvClass[] {
  if (typeof uri !== 'string') return [Ajv2020, Ajv] // many say nothing and mean draft-07: an array as "items"
  if (/draft-0[4-7]/.test(uri)) return [Ajv]
  return uri.includes('2019-09') ? [Ajv2019] : [Ajv2020]
}

function compileAs(Dialect: AjvClass, schema: JsonSchema): CheckArguments | string {
  const meta = metaOf.get(Dialect) ?? withoutId(new Dialect(options))
  metaOf.set(Dialect, meta)
  try {
    if (meta.validateSchema(schema) !== true) return `is not a JSON Schema: ${say(meta.errors, 'schema')}`
    // An instance for each schema: they keep what they compile, and two schemas may have the same "$id".
    const ajv = withoutId(new Dialect({ ...options, meta: false, validateSchema: false }))
    const validate = withinTime(() => ajv.compile(schema), COMPILE_MS)
    return guarded((args) => (validate(args) === true ? null : say(validate.errors, 'arguments')))
  } catch (error) {
    if (isTimeout(error)) return 'is not usable: it takes too long to apply'
    if (error instanceof RangeError) return 'is not usable: it refers to itself'
    return `is not usable: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Draft-04's "id" is an error to Ajv, not an unknown keyword. */
const withoutId = (ajv: Ajv): Ajv => ajv.removeKeyword('id')

function guarded(check: CheckArguments): CheckArguments {
  let refusedUntil = 0
  return (args) => {
    if (performance.now() < refusedUntil) return CANNOT_CHECK
    // Twice, since the clock also runs while a busy machine has no time for us.
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        return withinTime(() => check(args), CHECK_MS)
      } catch (error) {
        if (!isTimeout(error)) return 'the arguments cannot be checked: the input schema of the tool refers to itself'
      }
    }
    refusedUntil = performance.now() + REFUSED_MS
    return CANNOT_CHECK
  }
}

const sandbox: { run?: () => void } = vm.createContext(Object.create(null))
const script = new vm.Script('run()')

/** Runs our own function, but V8 stops it after `ms`, within a regular expression too. Throws then. */
function withinTime<T>(work: () => T, ms: number): T {
  const result: T[] = []
  sandbox.run = () => {
    result.push(work())
  }
  try {
    script.runInContext(sandbox, { timeout: ms })
  } finally {
    delete sandbox.run
  }
  return result[0] as T
}

// Not `instanceof`: it is an Error of the sandbox's own.
const isTimeout = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/** What can be said without Ajv, in bounded time and without recursion, whatever was parsed. */
function flawOfShape(schema: unknown): string | null {
  if (!isObject(schema)) return 'must be a JSON object'
  if (schema.type !== undefined && !(Array.isArray(schema.type) ? schema.type : [schema.type]).includes('object')) {
    return 'must describe an object: "type" is to be "object"'
  }
  let level: unknown[] = [schema]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  const tooLarge = Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES
  return tooLarge ? `must not be larger than ${MAX_SCHEMA_BYTES / 1024} KiB` : null
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function say(errors: ErrorObject[] | null | undefined, name: string): string {
  const [error] = errors ?? []
  if (error === undefined) return `${name} does not fit`
  const { additionalProperty, allowedValues } = error.params
  const details = additionalProperty ?? (allowedValues === undefined ? undefined : JSON.stringify(allowedValues))
  const text = `${name}${error.instancePath} ${error.message ?? 'does not fit'}`
  return (details === undefined ? text : `${text}: ${String(details)}`).slice(0, 500)
}
