/**
 * Refuses fields that a management body does not have (contract section 20): 400 that names the field, and the one that was
 * probably meant. A record may be sent back as it was read: its read-only fields are taken out before a handler sees them.
 */
import type { TSchema } from 'typebox'
import { documentedKeyword } from '../../../../openapi/documented.ts'
import { type Operation, successStatus } from '../../../../openapi/operation.ts'
import { readOnlyKeyword } from '../../../../openapi/read-only.ts'
import { closestName } from '../../../untrusted/closest-name.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { badRequest } from '../http-error.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * Returns the schema with its own keywords. Keywords that only the document carries count here too: their rule about
 * names is the same.
 */
const whole = (schema: unknown): Schema => {
  if (!isObject(schema)) return {}
  const documented = schema[documentedKeyword.keyword]
  return isObject(documented) ? { ...documented, ...schema } : schema
}

const propertiesOf = (schema: TSchema | null | undefined): string[] => {
  const { properties } = whole(schema)
  return isObject(properties) ? Object.keys(properties) : []
}

/** Returns null when the operation takes no body, or one whose fields are not checked. The function throws 400. */
export function unknownFieldCheck(operation: Operation): ((body: unknown) => void) | null {
  const { body: schema, scope, refusesUnknown = scope === 'management' } = operation
  if (schema === undefined || !refusesUnknown) return null
  const answered = propertiesOf(operation.responses[successStatus(operation)]).filter((name) => !shownOnce.has(name))
  const readOnly = answered.includes('createdAt') ? new Set(answered) : none // a record, or an answer of another kind
  return (body) => check(schema, body, { path: '', owner: null, readOnly, intoLists: scope === 'management' })
}

/** Refuses fields of a value that its schema does not have, wherever it stands. `path` ends in a dot. Throws 400. */
export const refuseUnknownFields = (schema: TSchema, value: unknown, path: string): void =>
  check(schema, value, { path, owner: null, readOnly: none, intoLists: true })

const none: ReadonlySet<string> = new Set()

/** In the answer to a creation alone, and in no record that is read: whoever sends one means to choose it. */
const shownOnce: ReadonlySet<string> = new Set(['key', 'secret'])

interface Place {
  path: string
  /** Name of the record that holds it, null where it has none. */
  owner: string | null
  /** Fields of the record as it is read. What the body has no use for among them is taken out. */
  readOnly: ReadonlySet<string>
  /** Messages that a deploy request gives are as programs have them: what they hold besides is not looked at. */
  intoLists: boolean
}

/** Checks a value. A value of another type than the schema's is left to the check that follows. */
function check(of: unknown, value: unknown, place: Place): void {
  const schema = whole(of)
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined || !place.intoLists) return
    for (const [index, item] of value.entries()) check(items, item, { ...place, path: `${place.path}${index}.` })
    return
  }
  const { properties, additionalProperties } = schema
  if (!isObject(value) || !isObject(properties) || additionalProperties !== undefined) return
  const own = readOnlyOf(schema)
  const owner = own === null ? place.owner : nameOf(value)
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(properties, name)) {
      if (!place.readOnly.has(name) && !own?.has(name))
        refuse(name, Object.keys(properties), value, { ...place, owner })
      delete value[name]
      continue
    }
    check(properties[name], value[name], { ...place, path: `${place.path}${name}.`, owner, readOnly: none })
  }
}

/** Returns the name of a record. A choice of tools bears its agent's. */
function nameOf({ name, agent }: Readonly<Record<string, unknown>>): string | null {
  const named = name ?? agent
  return typeof named === 'string' ? [...named].slice(0, LONGEST_NAME).join('') : null
}

function readOnlyOf(schema: Schema): ReadonlySet<string> | null {
  const names = schema[readOnlyKeyword.keyword]
  return Array.isArray(names) ? new Set(names) : null
}

const LONGEST_NAME = 100

/** The names here for what other services, and readers of our own pages, call otherwise. The first that the body has is named. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  always: ['remember'],
  expires_in: ['expires_after'],
  expiresIn: ['expiresAt', 'expires_after'],
  instructions: ['systemPrompt', 'content'],
  key: ['apiKey'],
  parameters: ['inputSchema'],
  prompt: ['promptId'],
  provider: ['providerId'],
  temperature: ['generationConfig'],
  tools: ['httpToolIds'],
  ttl: ['expires_after'],
  type: ['providerType'],
  url: ['baseUrl'],
}

function refuse(name: string, names: readonly string[], body: object, { path, owner }: Place): never {
  const left = names.filter((one) => !Object.hasOwn(body, one))
  const meant =
    closestName(name, left) ?? closestName(name, names) ?? otherNames[name]?.find((one) => names.includes(one)) ?? null
  const shown = [...name].slice(0, LONGEST_NAME).join('')
  const of = owner === null || path === '' ? '' : ` (of ${JSON.stringify(owner)})`
  badRequest(`${path}${shown}${of}: is unknown${meant === null ? '' : `; did you mean ${path}${meant}?`}`)
}
