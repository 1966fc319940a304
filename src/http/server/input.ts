/** Checks path, query and body of a request against an operation, and says in plain words what is wrong. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { documentedKeyword } from '../../../openapi/documented.ts'
import { maxDepthKeyword } from '../../../openapi/max-depth.ts'
import { type Operation, pathParams } from '../../../openapi/operation.ts'
import { readOnlyKeyword } from '../../../openapi/read-only.ts'
import { HttpError } from './http-error.ts'
import { brokenText } from './request-body/text.ts'
import { unknownFieldCheck } from './unknown-fields/unknown-fields.ts'
import { unknownParameterCheck } from './unknown-fields/unknown-parameters.ts'

interface CheckedInput {
  params: Readonly<Record<string, unknown>>
  query: Readonly<Record<string, unknown>>
  body: unknown
}

// Types are never coerced (contract section 2); the defaults are those of query parameters alone.
const ajv = new Ajv({
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
  allErrors: false,
  verbose: true,
  strict: true,
  allowUnionTypes: true,
  formats: { uuid: true, uri: true, 'date-time': true, password: true }, // for readers; handlers check what they must
})
ajv.addKeyword(maxDepthKeyword)
ajv.addKeyword(documentedKeyword)
ajv.addKeyword(readOnlyKeyword)

/** Compiles a schema when it is first needed: all of them took a quarter of the processor time of a start. */
export function validator(schema: TSchema): () => ValidateFunction {
  let compiled: ValidateFunction | null = null
  return () => {
    compiled ??= ajv.compile(schema)
    return compiled
  }
}

/** Returns a function that gives checked input or throws `HttpError` 400. */
export function checkInput(operation: Operation): (request: FastifyRequest) => CheckedInput {
  const names = pathParams(operation.path)
  const checkQuery = operation.query && queryCheck(operation.query)
  const refuseParameters = unknownParameterCheck(operation)
  const bodyValidator = operation.body && validator(operation.body)
  const refuseUnknown = unknownFieldCheck(operation)
  return (request) => {
    const params = pick(request.params, names)
    refuseParameters?.(request.query)
    const query = checkQuery ? checkQuery(request.query) : {}
    let body = request.body
    if (bodyValidator) {
      const checkBody = bodyValidator()
      if (body === undefined && operation.bodyOptional) body = {}
      refuseUnknown?.(body)
      if (!checkBody(body)) throw new HttpError(400, validationMessage(checkBody.errors?.[0], 'body'))
    }
    return { params, query, body }
  }
}

/** Returns a check that an operation leaves to its handler. The function throws `HttpError` 400. */
export function bodyCheck(schema: TSchema): (body: unknown) => void {
  const ofSchema = validator(schema)
  return (body) => {
    const check = ofSchema()
    if (!check(body)) throw new HttpError(400, validationMessage(check.errors?.[0], 'body'))
  }
}

function pick(values: unknown, names: readonly string[]): Record<string, unknown> {
  const given = new Map(Object.entries(values ?? {}))
  return Object.fromEntries(names.map((name) => [name, given.get(name)]))
}

/**
 * Returns the check of a query. Query strings hold text only. Whole numbers are read where the contract has integers,
 * and only from plain digits: `Number()` alone would take `1e1`, `0x10`, ` 5` and the empty string too.
 */
function queryCheck(schema: NonNullable<Operation['query']>): (query: unknown) => Record<string, unknown> {
  const properties: [string, TSchema][] = Object.entries(schema.properties)
  const ofSchema = validator(schema)
  return (raw) => {
    const given = new Map<string, unknown>(Object.entries(raw ?? {}))
    const query: Record<string, unknown> = {}
    for (const [name, property] of properties) {
      const type = 'type' in property ? property.type : undefined
      const value = type === 'object' ? namedValues(name, given) : oneText(name, given.get(name))
      if (value === undefined) continue
      query[name] = type === 'integer' && typeof value === 'string' ? wholeNumber(name, value) : value
    }
    const check = ofSchema()
    if (!check(query)) throw new HttpError(400, validationMessage(check.errors?.[0], 'query'))
    return query
  }
}

function oneText(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw new HttpError(400, `${name}: may be given only once`)
  const broken = brokenText(value)
  if (broken) throw new HttpError(400, `${name}: ${broken}`)
  return value
}

/** Returns `metadata[name]=value`, any number of them, as an object. */
function namedValues(of: string, given: ReadonlyMap<string, unknown>): Record<string, string> | undefined {
  if (given.has(of)) throw new HttpError(400, `${of}: must be written ${of}[name]=value`)
  const found: [string, string][] = []
  for (const [key, value] of given) {
    if (!key.startsWith(`${of}[`) || !key.endsWith(']')) continue
    const broken = brokenText(key)
    if (broken) throw new HttpError(400, `${of}: ${broken}`)
    const text = oneText(key, value)
    if (text !== undefined) found.push([key.slice(of.length + 1, -1), text])
  }
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

function wholeNumber(name: string, text: string): number {
  if (!/^-?\d+$/.test(text)) throw new HttpError(400, `${name}: must be a whole number`)
  return Math.min(Number(text), Number.MAX_VALUE) + 0 // infinity becomes a number, and -0 becomes 0
}

const kinds: Record<string, string> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
}

/**
 * Returns `generationConfig.topP: must be at most 1`: which field, as a dotted path, and why. `whole` stands for the
 * path where the body or query itself is meant.
 */
function validationMessage(error: ErrorObject | undefined, whole: string): string {
  if (error === undefined) return `${whole}: is not what the contract asks for`
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (error.keyword === 'required') return `${[...path, error.params.missingProperty].join('.')}: is required`
  const named = error.propertyName === undefined ? '' : `the name ${JSON.stringify(error.propertyName)} `
  return `${path.join('.') || whole}: ${named}${reason(error)}`
}

function reason({ keyword, params, schema, message }: ErrorObject): string {
  const count = (noun: string) => `${params.limit} ${noun}${params.limit === 1 ? '' : 's'}`
  switch (keyword) {
    case 'type':
      return `must be ${[schema]
        .flat()
        .map((type) => kinds[String(type)] ?? type)
        .join(' or ')}`
    case 'minLength':
      return `must have at least ${count('character')}`
    case 'maxLength':
      return `must have at most ${count('character')}`
    case 'minItems':
      return `must have at least ${count('element')}`
    case 'maxItems':
      return `must have at most ${count('element')}`
    case 'maxProperties':
      return `must have at most ${count('name')}`
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    case 'enum':
      return `must be one of ${[schema]
        .flat()
        .map((value) => JSON.stringify(value))
        .join(', ')}`
    case 'const':
      return `must be ${JSON.stringify(schema)}`
    default:
      return message ?? `breaks the rule ${keyword}`
  }
}
