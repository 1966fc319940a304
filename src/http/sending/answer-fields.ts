/**
 * Fields of a completion request that change the answer (contract section 13), read into one typed value. Which provider takes
 * which of them is the providers' table (providers/answer-fields.ts).
 */

import type { FastifyReply } from 'fastify'
import {
  MAX_STOPS,
  reasoningEfforts,
  responseFormats,
} from '../../../openapi/schemas/conversation/completion-fields.ts'
import type { AnswerFields, AnswerSchema, ReasoningEffort, ResponseFormat } from '../../actors/ports/index.ts'
import { EXTREME, exactObject, holdsExtreme } from '../../untrusted/exact-json.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { refuseLargeSchema } from '../server/fields/schema-size.ts'
import { badRequest } from '../server/http-error.ts'

type Body = Readonly<Record<string, unknown>>

export const noFields: AnswerFields = {}

/** Returns whether the value counts as absent, as null, false and empty arrays do. */
export const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0)

/** Throws 400 that names the field. */
export function readAnswerFields(body: Body): AnswerFields {
  refuseOthers(body)
  const fields: AnswerFields = {}
  // Both are checked; the second one wins.
  for (const name of ['max_tokens', 'max_completion_tokens'] as const) {
    const value = body[name]
    if (!isAbsent(value)) fields.maxTokens = { name, value: wholeNumber(name, value, 1) }
  }
  if (!isAbsent(body.stop)) fields.stop = readStop(body.stop)
  if (!isAbsent(body.seed)) fields.seed = wholeNumber('seed', body.seed)
  if (!isAbsent(body.response_format)) {
    const format = readResponseFormat(body.response_format)
    if (format.type === 'json_schema') {
      refuseLargeSchema(format.json_schema.schema, 'response_format.json_schema.schema')
    }
    fields.responseFormat = format
  }
  if (!isAbsent(body.reasoning_effort)) fields.reasoningEffort = readEffort(body.reasoning_effort)
  const parallel = body.parallel_tool_calls
  if (parallel === false || !isAbsent(parallel)) {
    fields.parallelToolCalls =
      typeof parallel === 'boolean' ? parallel : badRequest('parallel_tool_calls: must be true or false')
  }
  return fields
}

/** Refuses what no provider is asked for. */
function refuseOthers(body: Body): void {
  const { n, modalities } = body
  if (!isAbsent(n) && n !== 1) badRequest('n: must be 1: a request has one answer')
  for (const name of ['logprobs', 'audio', 'prediction', 'functions']) {
    if (!isAbsent(body[name])) badRequest(`${name}: is not supported`)
  }
  if (isAbsent(modalities)) return
  if (!Array.isArray(modalities)) badRequest('modalities: must be an array')
  else if (modalities.some((one) => one !== 'text')) badRequest('modalities: only "text" is supported')
}

function wholeNumber(name: string, value: unknown, least = Number.MIN_SAFE_INTEGER): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value
  return badRequest(`${name}: must be a whole number${least === 1 ? ' of 1 or more' : ''}`)
}

function readStop(value: unknown): string[] {
  const stops: unknown[] = Array.isArray(value) ? value : [value]
  if (stops.length > MAX_STOPS) badRequest(`stop: must have at most ${MAX_STOPS} elements`)
  return stops.map((stop) =>
    typeof stop === 'string' && stop !== '' ? stop : badRequest('stop: must be a text or an array of texts, not empty'),
  )
}

function readEffort(value: unknown): ReasoningEffort {
  const words = reasoningEfforts.map((effort) => JSON.stringify(effort)).join(', ')
  return reasoningEfforts.find((effort) => effort === value) ?? badRequest(`reasoning_effort: must be one of ${words}`)
}

/** Reads a response format. `where`: the field's name. Throws 400. */
export function readResponseFormat(value: unknown, where = 'response_format'): ResponseFormat {
  if (!isObject(value)) return badRequest(`${where}: must be an object`)
  const type = responseFormats.find((one) => one === value.type)
  if (type === undefined) return badRequest(`${where}.type: must be one of ${responseFormats.join(', ')}`)
  return type === 'json_schema'
    ? { type, json_schema: readSchema(value.json_schema, `${where}.json_schema`) }
    : { type }
}

function readSchema(value: unknown, where: string): AnswerSchema {
  if (!isObject(value)) return badRequest(`${where}: must be an object`)
  const { name, schema, strict, description } = value
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    return badRequest(`${where}.name: must be 1 to 64 letters, digits, _ or -`)
  }
  const read: AnswerSchema = { name }
  if (typeof description === 'string') read.description = description
  else if (isGiven(description)) badRequest(`${where}.description: must be a string`)
  if (isObject(schema)) read.schema = exactObject(schema)
  else if (isGiven(schema)) badRequest(`${where}.schema: must be an object`)
  if (holdsExtreme(read.schema)) badRequest(`${where}.schema: ${EXTREME}`)
  if (typeof strict === 'boolean') read.strict = strict
  else if (isGiven(strict)) badRequest(`${where}.strict: must be true or false`)
  return read
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Longest value of the header, in bytes. */
const MAX_HEADER = 1024

/**
 * Returns the value of `x-greenroom-ignored`: the fields that were sent, are not among the `known` ones, and so were
 * not used. Null when there is none. Names that do not fit any more are left out.
 */
function ignoredHeader(body: Body, known: ReadonlySet<string>): string | null {
  let header = ''
  for (const [name, value] of Object.entries(body)) {
    if (known.has(name) || isAbsent(value)) continue
    const before = header === '' ? '' : `${header},`
    const room = MAX_HEADER - before.length
    // Encoding makes no name shorter. A name of 4 MB of commas took 2.1 s to encode, only to be left out.
    if (name.length > room) continue
    const encoded = headerName(name)
    if (encoded.length <= room) header = before + encoded
  }
  return header === '' ? null : header
}

/** Names in the answer what was sent and not used. */
export function nameIgnored(reply: FastifyReply, body: Body, known: ReadonlySet<string>): void {
  const header = ignoredHeader(body, known)
  if (header !== null) reply.header('x-greenroom-ignored', header)
}

/**
 * Returns the name as a header can carry it: visible ASCII as it is; the comma, the percent sign and all others
 * percent-encoded.
 */
const headerName = (name: string): string =>
  name.replace(/[^!-~]|[,%]/gu, (point) =>
    [...Buffer.from(point)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
