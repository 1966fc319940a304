/**
 * Applies JSON Schemas in a process that schema-process.ts starts and ends: a schema may come from an untrusted MCP
 * server, and its patterns, references and unique items may take hours or gigabytes to apply. Receives one SchemaOrder
 * at a time and answers with its reasons. schema-watchdog.ts ends it when a job has used up its processor time.
 */
import { once } from 'node:events'
import { Ajv, type ErrorObject, type FuncKeywordDefinition, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { mayChange, parseNoted } from '../../untrusted/exact-json.ts'
import { applicable, patternOf } from '../../untrusted/json/schema-patterns.ts'
import { withSubschemas } from '../../untrusted/json/subschemas.ts'
import { exactKeyword, exactSchema } from './exact-keywords.ts'
import { startWatchdog } from './schema-watchdog.ts'

type JsonSchema = Record<string, unknown>

/** The reasons. Null for a valid value, otherwise the reason, for the model. */
type Reason = string | null

export type SchemaJob =
  /** Schemas to check as JSON Schemas. Nothing is compiled. */
  | { kind: 'are_schemas'; schemas: readonly JsonSchema[] }
  /** A schema, as a JSON text, to check for whether it can be applied. */
  | { kind: 'is_usable'; schema: string }
  /** Arguments to check. Both are JSON texts, whose numbers keep their digits. */
  | { kind: 'check'; schema: string; args: string }

export type SchemaReasons = readonly Reason[]

export interface SchemaOrder {
  job: SchemaJob
  /** The processor time after which the process ends itself: no time in which it waits for a processor. */
  cpuMs: number
}

type Check = (args: unknown) => Reason
type AjvClass = new (options: Options) => Ajv

const MAX_KEPT = 256

// Formats are annotations (2020-12 says so); strict mode is about style, which is up to the schema's author.
const options: Options = {
  strict: false,
  logger: false,
  validateFormats: false,
  inlineRefs: false,
  ownProperties: true, // "constructor" is a name like any other
  code: { regExp: Object.assign((pattern: string) => patternOf(pattern) ?? /(?:)/, { code: 'new RegExp' }) },
}

/**
 * Validators of the dialects. Meta-schemas take 50 ms to compile, so one instance of each dialect is kept, for nothing
 * else.
 */
const metaOf = new Map<AjvClass, Ajv>()

/** Compiled checks by the schema's text, the least recently used first. */
const kept = new Map<string, Check>()

const watchdog = startWatchdog()
watchdog.thread.unref()
process.on('message', ({ job, cpuMs }: SchemaOrder) => {
  watchdog.begin(cpuMs)
  const reasons = reasonsOf(job)
  watchdog.end()
  process.send?.(reasons)
})
process.on('disconnect', () => process.exit())
// Signals to the process group are handled by the parent, which may run on for a while.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

function reasonsOf(job: SchemaJob): SchemaReasons {
  if (job.kind === 'are_schemas') return job.schemas.map(flawOf)
  const check = compile(job.schema)
  if (typeof check === 'string' || job.kind === 'is_usable') return [typeof check === 'string' ? check : null]
  try {
    // Numbers that JavaScript's do not hold are compared by their digits, which takes longer.
    if (!mayChange(job.schema) && !mayChange(job.args)) return [check(JSON.parse(job.args))]
    const exact = compile(exactSchema(job.schema), [exactKeyword])
    return [typeof exact === 'string' ? exact : exact(parseNoted(job.args))]
  } catch {
    return ['the arguments cannot be checked: the input schema of the tool refers to itself']
  }
}

/** Returns the flaw of a schema. Null for a valid schema of one of its possible dialects. */
function flawOf(schema: JsonSchema): Reason {
  const { plain, dialects } = readingOf(schema)
  const flaws = dialects.map((dialect) => metaFlaw(dialect, plain))
  return flaws.includes(null) ? null : (flaws[0] ?? null)
}

function compile(text: string, keywords: readonly FuncKeywordDefinition[] = []): Check | string {
  const known = kept.get(text)
  if (known !== undefined) {
    kept.delete(text)
    kept.set(text, known)
    return known
  }
  const { plain, dialects } = readingOf(Object(JSON.parse(text)))
  let reason = ''
  for (const dialect of dialects) {
    const compiled = compileAs(dialect, plain, keywords)
    if (typeof compiled !== 'string') {
      kept.set(text, compiled)
      for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(oldest)
      return compiled
    }
    reason ||= compiled
  }
  return reason
}

/**
 * Removes "$schema", which selects the dialect here, "$async", which would make the checks return promises, and what
 * cannot be applied.
 */
function readingOf({ $schema, $async, ...given }: JsonSchema): { plain: JsonSchema; dialects: AjvClass[] } {
  const plain = applicable(given)
  const isDraft04 = typeof $schema === 'string' && $schema.includes('draft-04')
  return { plain: isDraft04 ? withBounds(plain) : plain, dialects: dialectsOf($schema) }
}

/**
 * Converts draft-04's `exclusiveMinimum`, a boolean that excludes `minimum` itself. Ajv supports later drafts alone,
 * where it is a number.
 */
function withBounds(schema: JsonSchema): JsonSchema {
  const bounds = {
    ...boundOf(schema, 'exclusiveMinimum', 'minimum'),
    ...boundOf(schema, 'exclusiveMaximum', 'maximum'),
  }
  const entries = Object.entries({ ...schema, ...bounds }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, withSubschemas(keyword, value, withBounds)]))
}

function boundOf(schema: JsonSchema, exclusive: string, inclusive: string): JsonSchema {
  if (typeof schema[exclusive] !== 'boolean') return {}
  return schema[exclusive] ? { [exclusive]: schema[inclusive], [inclusive]: undefined } : { [exclusive]: undefined }
}

function dialectsOf(uri: unknown): AjvClass[] {
  if (typeof uri !== 'string') return [Ajv2020, Ajv] // many omit it and mean draft-07: an array as "items"
  if (/draft-0[4-7]/.test(uri)) return [Ajv]
  return uri.includes('2019-09') ? [Ajv2019] : [Ajv2020]
}

function metaFlaw(Dialect: AjvClass, schema: JsonSchema): Reason {
  const meta = metaOf.get(Dialect) ?? withoutId(new Dialect(options))
  metaOf.set(Dialect, meta)
  return meta.validateSchema(schema) === true ? null : `is not a JSON Schema: ${wordsOf(meta.errors, 'schema')}`
}

function compileAs(Dialect: AjvClass, schema: JsonSchema, keywords: readonly FuncKeywordDefinition[]): Check | string {
  try {
    const flaw = metaFlaw(Dialect, schema)
    if (flaw !== null) return flaw
    // One instance for each schema: instances keep what they compile, and two schemas may share an "$id".
    const ajv = withoutId(new Dialect({ ...options, meta: false, validateSchema: false }))
    for (const keyword of keywords) ajv.addKeyword(keyword)
    const validate = ajv.compile(schema)
    return (args) => (validate(args) === true ? null : wordsOf(validate.errors, 'arguments'))
  } catch (error) {
    if (error instanceof RangeError) return 'is not usable: it refers to itself'
    return `is not usable: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Removes draft-04's "id", which is an error to Ajv, not an unknown keyword. */
const withoutId = (ajv: Ajv): Ajv => ajv.removeKeyword('id')

function wordsOf(errors: ErrorObject[] | null | undefined, name: string): string {
  const [error] = errors ?? []
  if (error === undefined) return `${name} does not fit`
  const { additionalProperty, allowedValues } = error.params
  const details = additionalProperty ?? (allowedValues === undefined ? undefined : JSON.stringify(allowedValues))
  const text = `${name}${error.instancePath} ${error.message ?? 'does not fit'}`
  return (details === undefined ? text : `${text}: ${String(details)}`).slice(0, 500)
}

// Before the first job's time begins: these take as much processor time as a slow one.
await once(watchdog.thread, 'online')
for (const dialect of dialectsOf(undefined)) metaFlaw(dialect, {})
process.send?.('ready')
