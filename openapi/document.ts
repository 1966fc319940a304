/** The declarations of `contract.ts` → an OpenAPI 3.1 document. Schemas with a `title` become components. */
import Type, { type TSchema } from 'typebox'
import manifest from '../package.json' with { type: 'json' }
import { tags } from './contract.ts'
import { type Operation, pathParams, type Scope } from './operation.ts'
import { DeployAuthError, DeployError, DeployRequestError, Message, searchPage } from './schemas/basics.ts'
import { ResponseError } from './schemas/deploy/response-error.ts'
import { Ready } from './schemas/operators/running.ts'

/** JSON, as far as this file needs to know. */
export interface Json {
  [key: string]: unknown
}

const intro = `Greenroom hosts chat agents: a model, a system prompt and tools, served over the chat-completions format.

- **Deploy**: point a chat-completions client at \`{server}/api/v1/agents/{agent_id}/deploy\`, or at
  \`…/deploy/sessions/{session_id}\` to let the server keep the conversation.
- **Management**: everything else below \`/api/v1\`. Errors are \`{message}\`; deploy errors are \`{error}\`,
  a text or, of 400 and 401, an object with \`message\`.
- Unknown fields are refused in management bodies, and where sessions and client secrets are made or changed.
  Those of completions are taken, not used, and named in \`x-greenroom-ignored\`. PUT changes the fields in the body
  and keeps the others. Types are never coerced: \`"1"\` is not a number.`

const securityOf: Record<Scope, readonly Json[]> = {
  health: [],
  // The empty requirement: without PUBLIC_API_KEY or AUTH_CREDENTIALS no credentials are needed.
  deploy: [{ deployKey: [] }, {}],
  management: [{ loginCookie: [] }, { managementKey: [] }, {}],
}

/** Returns the security of an operation that a client secret opens. */
const securityOfSecrets = (inQuery: boolean): readonly Json[] => [
  { deployKey: [] },
  { clientSecret: [] },
  ...(inQuery ? [{ clientSecretInQuery: [] }] : []),
  {},
]

const securitySchemes = {
  deployKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The shared key of `PUBLIC_API_KEY`, or a named key of scope `deploy`, for backends only. Not required when the former is unset.',
  },
  clientSecret: {
    type: 'http',
    scheme: 'bearer',
    description:
      "From `createClientSecret`, for one user's sessions with one agent. 401: `token_expired`, `token_revoked` or `invalid_api_key`.",
  },
  clientSecretInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description:
      'A client secret, for an EventSource or a picture of a page, which send no headers. The deploy key is not taken here.',
  },
  managementKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A named key of scope `management`, or for GETs alone of `management:read`, in place of a login.',
  },
  loginCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'greenroom_session',
    description: 'Set by `POST /api/auth/login`. Not required when `AUTH_CREDENTIALS` is unset.',
  },
}

export function buildDocument(): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const tag of tags) {
    for (const [id, operation] of Object.entries(tag.operations)) {
      const item = paths[operation.path] ?? {}
      if (operation.method in item) throw new Error(`${operation.method} ${operation.path} is declared twice`)
      item[operation.method] = describe(id, tag.name, operation, schemas)
      paths[operation.path] = item
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Greenroom',
      version: manifest.version,
      description: intro,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that served this document.' }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    paths,
    components: { schemas: Object.fromEntries(Object.entries(schemas).sort(byKey)), securitySchemes },
  }
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

function describe(id: string, tag: string, operation: Operation, schemas: Json): Json {
  const { summary, description } = operation
  const parameters = parametersOf(operation)
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: securityFor(operation),
    ...(operation.role === undefined ? {} : { 'x-role': operation.role }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === undefined && operation.form === undefined
      ? {}
      : { requestBody: requestBodyOf(operation, schemas) }),
    responses: { ...successesOf(operation, schemas), ...errorsOf(operation, schemas) },
  }
}

function securityFor({ scope, open, loginAlone, secret, method, streams, bytes }: Operation): readonly Json[] {
  if (open) return []
  if (loginAlone) return [{ loginCookie: [] }, {}]
  return secret === undefined
    ? securityOf[scope]
    : securityOfSecrets(method === 'get' && (streams !== undefined || bytes === true))
}

/** PUTs change records, which two people may edit at once (contract section 25). */
const editHeaders = {
  'If-Match': 'The `ETag` of the record as it was read: it is not changed if it has another one by now (412).',
}

function parametersOf({ path, query, headers, method }: Operation): Json[] {
  const inPath = pathParams(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, property]) => {
    const { description, ...schema } = plain(property)
    const style = schema.type === 'object' ? { style: 'deepObject', explode: true } : {}
    return { name, in: 'query', required: query?.required?.includes(name) ?? false, description, ...style, schema }
  })
  const inHeaders = Object.entries({ ...(method === 'put' && editHeaders), ...headers }).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }))
  return [...inPath, ...inQuery, ...inHeaders]
}

function requestBodyOf({ body, form, bodyOptional, alsoConsumes = [] }: Operation, schemas: Json): Json {
  if (form !== undefined)
    return { required: true, content: { 'multipart/form-data': { schema: hoist(form, schemas) } } }
  const content = { schema: hoist(body, schemas) }
  const types = ['application/json', ...alsoConsumes]
  return { required: bodyOptional !== true, content: Object.fromEntries(types.map((type) => [type, content])) }
}

const successWords: Record<string, string> = { 200: 'Success.', 201: 'Created.', 204: 'Done; no body.' }

function successesOf({ responses, streams, events = [], lines, bytes, text }: Operation, schemas: Json): Json {
  const answers = Object.entries(responses).map(([status, schema]) => {
    const content: Json = {}
    if (schema !== null) content['application/json'] = { schema: hoistEach(schema, schemas) }
    if (lines && status === '200') content['application/x-ndjson'] = { schema: hoist(lines, schemas) }
    if (bytes && status === '200') content['*/*'] = { schema: { type: 'string', contentMediaType: '*/*' } }
    if (text && status === '200') content['text/plain'] = { schema: { type: 'string' } }
    if (streams && status === '200') content['text/event-stream'] = { schema: eventsOf(events, schemas) }
    const description = streams && status === '204' ? 'No reply yet.' : (successWords[status] ?? 'Success.')
    return [status, Object.keys(content).length === 0 ? { description } : { description, content }]
  })
  return Object.fromEntries(answers)
}

/**
 * Returns the content of an event stream. OpenAPI 3.1 cannot describe these: by convention, the schema is that of one
 * event's `data:`.
 */
function eventsOf(events: readonly TSchema[], schemas: Json): Json {
  const [first, ...others] = events.map((event) => hoist(event, schemas))
  if (first === undefined) throw new Error('a stream declares no events')
  return others.length === 0 ? first : { anyOf: [first, ...others] }
}

/** Returns the operation's own errors, and those that its scope and body parsing add. */
function errorsOf(operation: Operation, schemas: Json): Json {
  const { scope, open, method, query, maxBodyBytes, takesParts, errors } = operation
  if (scope === 'health') {
    if (operation.path !== '/readyz') return {}
    return { 503: answer('Not ready; `message` gives the reason.', Ready, schemas) }
  }
  const words: Record<number, string> = {
    400: 'Something is missing or invalid; the message names the field and the reason.',
    403: scope === 'deploy' ? forbiddenWords(operation) : lockedWords(operation),
    503: 'The database cannot be reached; see `Retry-After`.',
  }
  if (!open) words[401] = scope === 'deploy' ? 'The key or client secret is missing or refused.' : 'Log in first.'
  if (method === 'put') words[412] = 'The record has been changed since; the message names the fields.'
  if (query === searchPage) words[413] = 'The page holds more than 32 MiB: read it with a smaller `limit`.'
  // A body is read wherever one can come, also by operations that do not look at it.
  if (method !== 'get') {
    words[408] = 'The request did not arrive in time.'
    words[413] = `The body is larger than ${maxBodyBytes ? `${maxBodyBytes / 1024} KiB or ` : ''}\`MAX_BODY_BYTES\`${takesParts ? ', pictures and files not counted; or a message has more than 20 parts or 20 MiB of these' : ''}.`
    words[415] = 'The body is compressed, or has another media type or none.'
    words[503] = 'Too many request bodies are being received, or the database cannot be reached; see `Retry-After`.'
  }
  words[500] = 'Internal error.'
  return Object.fromEntries(
    Object.entries({ ...words, ...errors }).map(([status, description]) => [
      status,
      answer(description, scope === 'deploy' ? deployErrorOf(operation, status) : Message, schemas),
    ]),
  )
}

/** Returns the schema of an error. Clients of the Responses API read OpenAI's object in every status. */
const deployErrorOf = ({ path }: Operation, status: string): TSchema =>
  /\/(?:responses|conversations|files)(?:\/|$)/.test(path) ? ResponseError : (deployErrors[status] ?? DeployError)

const deployErrors: Readonly<Record<string, TSchema>> = { 400: DeployRequestError, 401: DeployAuthError }

function forbiddenWords({ secret, method }: Operation): string {
  const page = method === 'get' ? '' : " On an open server: a page of an origin that is not among the agent's sent it."
  if (secret === undefined) return `A client secret does not open this.${page}`
  if (secret === 'user') return `The client secret is for one session, or the body is not for it to say.${page}`
  return method === 'get' ? 'The host name of the request is not allowed.' : page.trim()
}

function lockedWords({ method, open, role }: Operation): string {
  const reasons = [
    ...(method === 'get' ? [] : ['a page of another origin sent it']),
    ...(open ? [] : ['the key that was sent does not open this']),
    ...(role === undefined || role === 'viewer' ? [] : [`the role ${role} is needed`]),
    'its host name is not allowed',
  ]
  return `Refused: ${reasons.join(', or ')}.`
}

const answer = (description: string, schema: object, schemas: Json): Json => ({
  description,
  content: { 'application/json': { schema: hoist(schema, schemas) } },
})

/** Removes TypeBox's own additions to the keywords. */
const plain = (schema: unknown): Json => JSON.parse(JSON.stringify(schema))

const isObject = (value: unknown): value is Json => value !== null && typeof value === 'object' && !Array.isArray(value)

/** Moves each titled schema to `schemas` and puts a `$ref` in its place. A title must identify one schema. */
function hoist(schema: unknown, schemas: Json): Json {
  const { title, 'x-documented': documented, ...checked } = plain(schema)
  const rest = isObject(documented) ? { ...checked, ...documented } : checked
  const inside = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, hoistInside(key, value, schemas)]))
  if (typeof title !== 'string') return inside
  const known = schemas[title]
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(inside))
    throw new Error(`two schemas are titled ${title}`)
  schemas[title] = inside
  return { $ref: `#/components/schemas/${title}` }
}

/** Names each of several alternative answers, so that it is a schema of its own. */
const hoistEach = (schema: TSchema, schemas: Json): Json =>
  Type.IsUnion(schema) ? { anyOf: schema.anyOf.map((one) => hoist(one, schemas)) } : hoist(schema, schemas)

function hoistInside(keyword: string, value: unknown, schemas: Json): unknown {
  if (keyword === 'properties' && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, property]) => [name, hoist(property, schemas)]))
  }
  if ((keyword === 'items' || keyword === 'additionalProperties') && isObject(value)) return hoist(value, schemas)
  return value
}
