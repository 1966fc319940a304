/** Contract section 20: what a management body does not have is refused, and never swallowed. */
import { afterAll, expect, test } from 'vitest'
import { tags } from '../../../openapi/contract.ts'
import type { Operation } from '../../../openapi/operation.ts'
import { verifies } from '../../verifies.ts'
import { nobody, openScene } from '../scene.ts'

const scene = await openScene({ settings: {} })
afterAll(scene.close)

type Path = readonly (string | number)[]
type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** An object of a body whose fields the contract names. */
interface Closed {
  path: Path
  names: readonly string[]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A body that holds each object which the schema names fields for, once. */
function bodyOf(schema: unknown, path: Path, closed: Closed[]): Json {
  const documented = isObject(schema) && isObject(schema['x-documented']) ? schema['x-documented'] : {}
  const whole = isObject(schema) ? { ...documented, ...schema } : {}
  const { properties, items, additionalProperties } = whole
  if (isObject(properties) && additionalProperties === undefined) {
    closed.push({ path, names: Object.keys(properties) })
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, bodyOf(property, [...path, name], closed)]),
    )
  }
  if (isObject(items) && isObject(items.properties)) return [bodyOf(items, [...path, 0], closed)]
  return 'text'
}

/** The body with one more field, at one of its places. */
function withField(body: Json, [next, ...rest]: Path, name: string): Json {
  if (next === undefined) return isObject(body) ? { ...body, [name]: 'x' } : body
  if (Array.isArray(body)) return body.map((item, index) => (index === next ? withField(item, rest, name) : item))
  if (!isObject(body)) return body
  return { ...body, [next]: withField(body[next] ?? null, rest, name) }
}

/** Two neighbours swapped; a name of one sign, or of equal ones, is lengthened. */
function misspelt(name: string, taken: readonly string[]): string {
  const swapped = name.length < 3 ? `${name}x` : `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`
  return taken.includes(swapped) ? `${name}x` : swapped
}

const withBodies = tags
  .flatMap(({ operations }) => Object.entries<Operation>(operations))
  .filter(([, { scope, body }]) => scope === 'management' && body !== undefined)

const stored = async () => {
  const [row] = await scene.app.sql<{ all: string }[]>`
    select query_to_xml('select * from configuration', true, false, '')::text ||
      (select count(*) from providers) || ' ' || (select count(*) from prompts) || ' ' || (select count(*) from agents) || ' ' ||
      (select count(*) from http_tools) || ' ' || (select count(*) from mcp_servers) || ' ' ||
      (select count(*) from sessions) as all`
  return row?.all
}

verifies('contract-20.unknown-fields', 'every unknown or misspelt field of every management body is 400', async () => {
  const before = await stored()
  const faults: unknown[] = []
  let sent = 0
  for (const [id, { method, path, body: schema }] of withBodies) {
    const closed: Closed[] = []
    const body = bodyOf(schema, [], closed)
    expect([id, closed.length > 0]).toEqual([id, true])
    const url = path.replace('{agent_id}', scene.agentId).replace(/\{\w+\}/g, nobody)
    for (const { path: at, names } of closed) {
      for (const wrong of ['noSuchField', ...names.map((name) => misspelt(name, names))]) {
        const answer = await scene.call(method.toUpperCase(), url, withField(body, at, wrong))
        sent += 1
        const where = [...at, wrong].join('.')
        const says: string = answer.json?.message ?? ''
        if (answer.status !== 400 || !says.startsWith(where)) faults.push([id, where, answer.status, answer.text])
      }
    }
  }
  expect(faults).toEqual([])
  expect(sent).toBeGreaterThan(150)
  expect(await stored()).toBe(before)
})

verifies('contract-20.unknown-fields', 'the answer names the field that was probably meant', async () => {
  const update = (body: object) => scene.call('PUT', scene.agent, body)
  const before = (await scene.call('GET', scene.agent)).json
  const says = async (body: object) => (await update(body)).json
  expect(await says({ generationConfg: {} })).toEqual({
    message: 'generationConfg: is unknown; did you mean generationConfig?',
  })
  expect(await says({ generationConfig: { top_p: 1 } })).toEqual({
    message: 'generationConfig.top_p: is unknown; did you mean generationConfig.topP?',
  })
  expect(await says({ provider_id: 'x' })).toEqual({ message: 'provider_id: is unknown; did you mean providerId?' })
  expect(await says({ responseFormat: { type: 'json_schema', json_schema: { name: 'x', schem: {} } } })).toEqual({
    message: 'responseFormat.json_schema.schem: is unknown; did you mean responseFormat.json_schema.schema?',
  })
  expect(await says({ colour: 'red' })).toEqual({ message: 'colour: is unknown' })
  expect((await scene.call('GET', scene.agent)).json).toEqual(before)
})

verifies('contract-20.as-read', 'every record may be sent back as it was read, and free maps stay free', async () => {
  const provider = { name: 'As read', providerType: 'openai', apiKey: 'sk-as-read-0123456789' }
  const tool = {
    name: 'as_read',
    description: 'd',
    method: 'POST',
    url: 'https://example.com/a',
    headers: { 'X-Anything': 'v' },
    inputSchema: { type: 'object', properties: { anything: { type: 'string' } }, additionalProperties: false },
  }
  const agent = { name: 'As read', providerId: scene.providerId, model: 'm', generationConfig: { topP: 1 } }
  const created: [string, object][] = [
    ['/api/v1/settings/providers', provider],
    ['/api/v1/prompts', { name: 'As read', content: 'c' }],
    ['/api/v1/http-tools', tool],
    ['/api/v1/mcp-servers', { name: 'as_read', transport: 'sse', url: 'https://example.com/mcp' }],
    ['/api/v1/agents', agent],
  ]
  for (const [path, body] of created) {
    const { json } = await scene.call('POST', path, body)
    const { updatedAt: _, ...same } = json
    const back = await scene.call('PUT', `${path}/${json.id}`, json)
    expect([path, back.status, back.json]).toEqual([path, 200, { ...same, updatedAt: expect.any(String) }])
    // What is read-only is not looked at.
    expect((await scene.call('PUT', `${path}/${json.id}`, { id: 7, createdAt: {} })).status).toBe(200)
  }
  const tools = (await scene.call('GET', `${scene.agent}/tools`)).json
  expect((await scene.call('PUT', `${scene.agent}/tools`, tools)).json).toEqual(tools)
  const session = { title: 'A', user: 'ann', metadata: { anything: 'goes' } }
  const made = await scene.call('POST', `${scene.agent}/playground/sessions`, session)
  expect(made.json).toMatchObject(session)
})

verifies(
  'contract-20.import',
  'unknown fields are refused with the record’s name, and records are taken as read',
  async () => {
    const prompt = { name: 'Imported', content: 'c' }
    const refused = await scene.call('POST', '/api/v1/import', {
      version: 1,
      prompts: [prompt, { ...prompt, name: 'Two', contnt: '' }],
    })
    expect([refused.status, refused.json]).toEqual([
      400,
      { message: 'prompts.1.contnt (of "Two"): is unknown; did you mean prompts.1.content?' },
    ])
    const choice = { agent: 'Agent', mcpServers: [{ server: 's', toolName: [] }] }
    expect((await scene.call('POST', '/api/v1/import', { version: 1, agentTools: [choice] })).json).toEqual({
      message:
        'agentTools.0.mcpServers.0.toolName (of "Agent"): is unknown; did you mean agentTools.0.mcpServers.0.toolNames?',
    })
    const provider = { name: 'X', wireApi: 'responses' }
    const of = (providers: object[]) => scene.call('POST', '/api/v1/import', { version: 1, providers })
    expect((await of([{ ...provider, foo: 1 }])).json).toEqual({ message: 'providers.0.foo (of "X"): is unknown' })
    expect((await of([{ ...provider, id: 'i', hasApiKey: true, apiKeyHint: null, createdAt: '' }])).status).toBe(200)
    const { json: created } = await scene.call('POST', '/api/v1/prompts', prompt)
    const again = await scene.call('POST', '/api/v1/import', { version: 1, prompts: [created] })
    expect([again.status, again.json]).toEqual([200, { created: 0, updated: 0, skipped: [] }])
    expect((await scene.call('POST', '/api/v1/import', { version: 1, prompt: [] })).json).toEqual({
      message: 'prompt: is unknown; did you mean prompts?',
    })
    const exported = (await scene.call('GET', '/api/v1/export')).json
    expect((await scene.call('POST', '/api/v1/import', exported)).status).toBe(200)
  },
)

test.each([
  ['/api/v1/http-tools', 'parameters', 'inputSchema'],
  ['/api/v1/agents', 'instructions', 'systemPrompt'],
  ['/api/v1/settings/providers', 'type', 'providerType'],
  ['/api/v1/prompts', 'instructions', 'content'],
])('at %s the word of others, %s, is told ours', async (path, given, ours) => {
  const { status, json } = await scene.call('POST', path, { name: 'N', [given]: 'x' })
  expect([status, json.message]).toEqual([400, `${given}: is unknown; did you mean ${ours}?`])
})

test('so it is for an agent’s tools, and for a client secret', async () => {
  const tools = await scene.call('PUT', `${scene.agent}/tools`, { tools: [] })
  expect(tools.json.message).toBe('tools: is unknown; did you mean httpToolIds?')
  const secret = await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'ann', expires_in: 60 })
  expect(secret.json.error.message).toBe('expires_in: is unknown; did you mean expires_after?')
})
