/** The declarations of `contract.ts` → an OpenAPI 3.1 document. Schemas with a `title` become components. */
import type { TSchema } from 'typebox'
import manifest from '../package.json' with { type: 'json' }
import { tags } from './contract.ts'
import { type Operation, pathParams, type Scope } from './operation.ts'
import { DeployAuthError, DeployError, Message } from './schemas/basics.ts'
import { Ready } from './schemas/running.ts'

/** JSON, as far as this file needs to know. */
export interface Json {
  [key: string]: unknown
}

const intro = `Greenroom keeps chat agents: a model, a system prompt and tools, served over the chat-completions format.

- **Deploy**: point a chat-completions client at \`{server}/api/v1/agents/{agent_id}/deploy\`, or at
  \`…/deploy/sessions/{session_id}\` to let the server keep the conversation.
- **Management**: everything else below \`/api/v1\`. Errors are \`{message}\`; deploy errors are \`{error}\`.
- Fields that a request has beyond those listed are accepted and ignored. PUT changes the fields that it carries
  and keeps the others. Types are never coerced: \`"1"\` is not a number.`

const securityOf: Record<Scope, readonly Json[]> = {
  health: [],
  // The empty requirement: without PUBLIC_API_KEY or AUTH_CREDENTIALS the server asks for nothing.
  deploy: [{ deployKey: [] }, {}],
  management: [{ loginCookie: [] }, {}],
}

const securitySchemes = {
  deployKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The shared key of `PUBLIC_API_KEY`, for backends only. Not asked for when that is unset.',
  },
  loginCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'greenroom_session',
    description: 'Set by `POST /api/auth/login`. Not asked for when `AUTH_CREDENTIALS` is unset.',
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
    servers: [{ url: '/', description: 'The server that this document came from.' }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    paths,
    components: { schemas: Object.fromEntries(Object.entries(schemas).sort(byKey)), securitySchemes },
  }
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

function describe(id: string, tag: string, operation: Operation, schemas: Json): Json {
  const { summary, description, scope, open } = operation
  const parameters = parametersOf(operation)
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: open ? [] : securityOf[scope],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === undefined ? {} : { requestBody: requestBodyOf(operation, schemas) }),
    responses: { ...successesOf(operation, schemas), ...errorsOf(operation, schemas) },
  }
}

function parametersOf({ path, query, headers }: Operation): Json[] {
  const inPath = pathParams(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, property]) => {
    const { description, ...schema } = plain(property)
    const style = schema.type === 'object' ? { style: 'deepObject', explode: true } : {}
    return { name, in: 'query', required: query?.required?.includes(name) ?? false, description, ...style, schema }
  })
  const inHeaders = Object.entries(headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }))
  return [...inPath, ...inQuery, ...inHeaders]
}

function requestBodyOf({ body, bodyOptional, alsoConsumes = [] }: Operation, schemas: Json): Json {
  const content = { schema: hoist(body, schemas) }
  const types = ['application/json', ...alsoConsumes]
  return { required: bodyOptional !== true, content: Object.fromEntries(types.map((type) => [type, content])) }
}

const successWords: Record<string, string> = { 200: 'Success.', 201: 'Created.', 204: 'Done; no body.' }

function successesOf({ responses, streams, events = [] }: Operation, schemas: Json): Json {
  const answers = Object.entries(responses).map(([status, schema]) => {
    const content: Json = {}
    if (schema !== null) content['application/json'] = { schema: hoist(schema, schemas) }
    if (streams && status === '200') content['text/event-stream'] = { schema: eventsOf(events, schemas) }
    const description = streams && status === '204' ? 'No reply yet.' : (successWords[status] ?? 'Success.')
    return [status, Object.keys(content).length === 0 ? { description } : { description, content }]
  })
  return Object.fromEntries(answers)
}

/** OpenAPI 3.1 has no word for the events of a stream: as is usual, the schema is that of one event's `data:`. */
function eventsOf(events: readonly TSchema[], schemas: Json): Json {
  const [first, ...others] = events.map((event) => hoist(event, schemas))
  if (first === undefined) throw new Error('a stream declares no events')
  return others.length === 0 ? first : { anyOf: [first, ...others] }
}

/** What the operation declares, and what the scope and the reading of bodies add. */
function errorsOf(operation: Operation, schemas: Json): Json {
  const { scope, open, method, body, query, headers, maxBodyBytes, errors } = operation
  if (scope === 'health') {
    if (operation.path !== '/readyz') return {}
    return { 503: answer('Not ready; `message` tells why.', Ready, schemas) }
  }
  const words: Record<number, string> = {}
  if (body || query || headers) words[400] = 'Something is missing or wrong; the message names the field and why.'
  if (!open) words[401] = scope === 'deploy' ? 'The key is missing or wrong.' : 'Log in first.'
  if (scope === 'management' && method !== 'get') words[403] = 'The request comes from a page of another origin.'
  if (body) {
    words[408] = 'The request did not arrive in time.'
    words[413] = `The body is larger than ${maxBodyBytes ? `${maxBodyBytes / 1024} KiB or ` : ''}\`MAX_BODY_BYTES\`.`
    words[415] = 'The body is compressed, has another media type, or none was named.'
    words[503] = 'Too much is arriving at the moment, or the database cannot be reached; see `Retry-After`.'
  }
  words[500] = 'Something went wrong inside.'
  const plainError = scope === 'deploy' ? DeployError : Message
  return Object.fromEntries(
    Object.entries({ ...words, ...errors }).map(([status, said]) => [
      status,
      answer(said, status === '401' && scope === 'deploy' ? DeployAuthError : plainError, schemas),
    ]),
  )
}

const answer = (description: string, schema: object, schemas: Json): Json => ({
  description,
  content: { 'application/json': { schema: hoist(schema, schemas) } },
})

/** Without what TypeBox keeps beside the keywords. */
const plain = (schema: unknown): Json => JSON.parse(JSON.stringify(schema))

const isObject = (value: unknown): value is Json => value !== null && typeof value === 'object' && !Array.isArray(value)

/** Puts each titled schema into `schemas` and a `$ref` in its place. One title may stand for one schema only. */
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

function hoistInside(keyword: string, value: unknown, schemas: Json): unknown {
  if (keyword === 'properties' && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, property]) => [name, hoist(property, schemas)]))
  }
  if ((keyword === 'items' || keyword === 'additionalProperties') && isObject(value)) return hoist(value, schemas)
  return value
}
