/** Contract section 2, HTTP tools and secret headers; specification 2.5 and 4.8. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CallableTool, HttpToolDependencies } from '../../../../src/http/management/records/http-tools.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'
import { type Server, secrets, startServer } from '../server.ts'

const path = '/api/v1/http-tools'
const nobody = '11111111-1111-4111-8111-111111111111'
let db: FreshDatabase
let server: Server
let answer: HttpToolDependencies['callHttpTool']
let called: { tool: CallableTool; args: Record<string, unknown>; by: { user: string | null; metadata: object } }[] = []

beforeAll(async () => {
  db = await freshDatabase()
  server = await startServer({
    sql: db.sql,
    tools: {
      checkSchema: async (schema) => (schema.type === 'object' ? null : 'must be a JSON Schema of an object'),
      callHttpTool: (tool, args, by) => {
        called.push({ tool, args, by: { user: by.user, metadata: by.metadata } })
        return answer(tool, args, by)
      },
    },
  })
})
afterAll(async () => {
  await server.close()
  await db.drop()
})

const required = {
  name: 'Weather',
  description: 'Tells the weather.',
  method: 'GET',
  url: 'https://a.com/w?q=1',
}
const create = (fields: object = {}) => server.call('POST', path, { ...required, ...fields })
const created = async (fields: object = {}) => {
  const { status, json, text } = await create(fields)
  if (status !== 201) throw new Error(text)
  return json
}
const update = (id: string, body: object) => server.call('PUT', `${path}/${id}`, body)
const read = async (id: string) => (await server.call('GET', `${path}/${id}`)).json

verifies('contract-20.as-read', 'a list keeps the order of a schema’s properties, which models read', async () => {
  const inputSchema = { type: 'object', properties: { bb: {}, a: {} } }
  const { name } = await created({ name: 'In order', inputSchema })
  const [listed] = (await server.call('GET', `${path}?q=${encodeURIComponent(name)}`)).json.httpTools
  expect(JSON.stringify(listed.inputSchema)).toBe(JSON.stringify(inputSchema))
})

async function storedSecrets(id: string): Promise<unknown> {
  const [row] = await db.sql<
    { sealed: string | null }[]
  >`select secret_headers as sealed from http_tools where id = ${id}`
  return row?.sealed ? JSON.parse(secrets.open(row.sealed, `http-tool:${id}`)) : null
}

verifies(
  ['spec-4.8.http-tools', 'spec-2.5.http-tool'],
  'create returns 201 with the record, get and list return it, delete is 204',
  async () => {
    const inputSchema = { type: 'object', properties: { zeta: { type: 'string' }, alpha: { type: 'number' } } }
    const fields = { name: 'Needle', headers: { 'X-Plain': 'v' }, body: '{"a":{{zeta}}}', inputSchema, method: 'POST' }
    const { status, json } = await create(fields)
    expect(status).toBe(201)
    const times = { createdAt: expect.any(String), updatedAt: expect.any(String) }
    expect(json).toEqual({ ...required, ...fields, id: expect.any(String), ...times })
    // Models read properties in their order.
    expect(Object.keys(json.inputSchema.properties)).toEqual(['zeta', 'alpha'])
    expect(await read(json.id)).toEqual(json)
    const list = (await server.call('GET', `${path}?q=nEEdle`)).json
    expect(list).toEqual({ httpTools: [json], total: 1, limit: 20, offset: 0 })
    expect((await server.call('DELETE', `${path}/${json.id}`)).status).toBe(204)
    expect((await server.call('DELETE', `${path}/${json.id}`)).status).toBe(404)
  },
)

test('without the optional fields: no headers, null body and inputSchema', async () => {
  expect(await created()).toMatchObject({ headers: {}, body: null, inputSchema: null })
  expect(await created({ headers: null, body: null, inputSchema: null })).toMatchObject({ headers: {}, body: null })
})

test.each([
  [{ name: undefined }, 'name'],
  [{ description: undefined }, 'description'],
  [{ method: undefined }, 'method'],
  [{ url: undefined }, 'url'],
  [{ name: '' }, 'name'],
  [{ name: 'x'.repeat(201) }, 'name'],
  [{ method: 'get' }, 'method'],
  [{ method: 'HEAD' }, 'method'],
  [{ url: 'ftp://a.com' }, 'url'],
  [{ url: '/relative' }, 'url'],
  [{ url: 'https://user@a.com/' }, 'url'],
  [{ url: 'https://user:{{password}}@a.com/' }, 'url'],
  [{ url: 'https://{{host}}/' }, 'url'],
  [{ url: 'https://a.com:{{port}}/' }, 'url'],
  [{ url: '{{url}}' }, 'url'],
  [{ url: '{{scheme}}://a.com' }, 'url'],
  [{ inputSchema: { type: 'string' } }, 'inputSchema'],
  [{ inputSchema: [] }, 'inputSchema'],
  [{ headers: { 'X A': 'v' } }, 'headers.X A'],
  [{ headers: { '': 'v' } }, 'headers.'],
  [{ headers: { 'X-A': 'v\r\nX-B: w' } }, 'headers.X-A'],
  [{ headers: { 'X-A': 'Ω' } }, 'headers.X-A'],
  [{ headers: { 'X-A': 1 } }, 'headers.X-A'],
  [{ headers: { Host: 'b.com' } }, 'headers.Host'],
  [{ headers: { 'Content-Length': '5' } }, 'headers.Content-Length'],
  [{ headers: { 'X-A': '1', 'x-a': '2' } }, 'headers.x-a'],
  [{ headers: { Authorization: '***' } }, 'headers.Authorization'],
])('create with %j is 400 naming %s', async (fields, field) => {
  const { status, json } = await create(fields)
  expect(status).toBe(400)
  expect(json).toEqual({ message: expect.stringContaining(`${field}:`) })
})

test('PUT changes the fields in the body, replaces headers and inputSchema as a whole, clears by null', async () => {
  const inputSchema = { type: 'object', required: ['city'] }
  const tool = await created({ headers: { A: '1', B: '2' }, body: 'text', inputSchema })
  const changed = (await update(tool.id, { name: 'New', headers: { C: '3' } })).json
  expect(changed).toEqual({ ...tool, name: 'New', headers: { C: '3' }, updatedAt: expect.any(String) })
  expect(changed.updatedAt > tool.updatedAt).toBe(true)
  expect((await update(tool.id, { body: null, inputSchema: null })).json).toMatchObject({
    body: null,
    inputSchema: null,
  })
  expect((await update(tool.id, { headers: null })).json.headers).toEqual({})
  for (const bad of [{ name: null }, { url: null }, { method: 'x' }, { inputSchema: { type: 'array' } }]) {
    expect((await update(tool.id, { description: 'changed', ...bad })).status).toBe(400)
  }
  expect((await read(tool.id)).description).toBe(required.description)
  for (const id of [nobody, 'x']) expect((await update(id, { name: 'x' })).status).toBe(404)
})

describe('secret headers', () => {
  const headers = { Authorization: 'Bearer s3cret', 'X-Api-KEY': 's3cret', Accept: 'text/plain' }
  const masked = { Authorization: '***', 'X-Api-KEY': '***', Accept: 'text/plain' }

  verifies('contract-2.secret-headers', 'are encrypted at rest and read back as ***', async () => {
    const tool = await created({ headers })
    expect(tool.headers).toEqual(masked)
    expect((await read(tool.id)).headers).toEqual(masked)
    expect((await server.call('GET', path)).text).not.toContain('s3cret')
    const rows = await db.sql<{ row: string }[]>`select to_json(t)::text as row from http_tools t where id = ${tool.id}`
    expect(rows[0]?.row).not.toContain('s3cret')
    expect(await storedSecrets(tool.id)).toEqual({ authorization: 'Bearer s3cret', 'x-api-key': 's3cret' })
  })

  test.each([
    ...['Cookie', 'X-AUTH-Id', 'apikey', 'My-Token', 'client-secret', 'PASSWORD', 'X-Credentials', 'X-Signature'],
    'Session-Id',
  ])('%s carries one', async (name) => {
    expect((await created({ headers: { [name]: 'v' } })).headers).toEqual({ [name]: '***' })
  })

  verifies('contract-2.secret-headers', '*** keeps the stored value, names are case-insensitive', async () => {
    const { id } = await created({ headers })
    const kept = await update(id, { headers: { authorization: '***', 'x-api-key': 'new', Accept: '***' } })
    expect(kept.json.headers).toEqual({ authorization: '***', 'x-api-key': '***', Accept: '***' })
    expect(await storedSecrets(id)).toEqual({ authorization: 'Bearer s3cret', 'x-api-key': 'new' })
    const before = await read(id)
    const { status, json } = await update(id, { name: 'x', headers: { Authorization: '***', Cookie: '***' } })
    expect([status, json.message]).toEqual([400, expect.stringContaining('headers.Cookie:')])
    expect(await read(id)).toEqual(before)
    expect((await update(id, { name: 'Only the name' })).status).toBe(200)
    expect(await storedSecrets(id)).toEqual({ authorization: 'Bearer s3cret', 'x-api-key': 'new' })
    await update(id, { headers: { Accept: 'a' } })
    expect(await storedSecrets(id)).toBeNull()
  })

  verifies('contract-2.secret-headers', 'must be sent again when url moves to another origin', async () => {
    const tool = await created({ headers })
    const to = (url: string, given?: object) => update(tool.id, { url, ...(given && { headers: given }) })
    for (const url of ['https://b.com/', 'http://a.com/', 'https://a.com:8443/']) {
      expect((await to(url)).status).toBe(400)
      expect((await to(url, masked)).status).toBe(400)
      expect((await to(url, { Authorization: 'new', 'X-Api-KEY': '***' })).status).toBe(400)
    }
    expect(await read(tool.id)).toEqual(tool)
    expect((await to('https://A.com:443/other/place')).status).toBe(200)
    expect((await to('https://b.com/', { Authorization: 'new' })).status).toBe(200)
    expect(await storedSecrets(tool.id)).toEqual({ authorization: 'new' })
    const plain = await created({ headers: { Accept: 'a' } })
    expect((await update(plain.id, { url: 'https://b.com/' })).status).toBe(200)
  })
})

describe('a test', () => {
  verifies('contract-2.http-tool-test', 'calls the tool once with its secrets and returns the result', async () => {
    answer = async () => ({ ok: true, status: 203, content: 'Status 203\n\nsunny', body: 'sunny' })
    called = []
    const tool = await created({ headers: { Authorization: 'Bearer s3cret', Accept: 'a' }, body: 'b' })
    const { status, json } = await server.call('POST', `${path}/${tool.id}/test`, { arguments: { city: 'Rome' } })
    expect(status).toBe(200)
    expect(json).toEqual({
      ok: true,
      status: 203,
      body: 'sunny',
      latencyMs: expect.any(Number),
      message: expect.any(String),
    })
    const { createdAt: _, updatedAt: __, ...record } = tool
    const opened = { ...record, headers: { Authorization: 'Bearer s3cret', Accept: 'a' } }
    expect(called).toEqual([{ tool: opened, args: { city: 'Rome' }, by: { user: null, metadata: {} } }])
  })

  verifies('contract-2.http-tool-test', 'is given a user and metadata, as a session has them', async () => {
    called = []
    const { id } = await created({ headers: {} })
    const by = { user: 'ann', metadata: { plan: 'gold' } }
    await server.call('POST', `${path}/${id}/test`, { arguments: {}, ...by })
    await server.call('POST', `${path}/${id}/test`)
    expect(called.map((one) => one.by)).toEqual([by, { user: null, metadata: {} }])
    const wrong = await server.call('POST', `${path}/${id}/test`, { user: '', metadata: { plan: 5 } })
    expect(wrong.status).toBe(400)
  })

  verifies('contract-2.http-tool-test', 'is 200 even when the tool fails, in any way', async () => {
    const { id } = await created({ headers: { Authorization: 's3cret' } })
    const run = (body?: object) => server.call('POST', `${path}/${id}/test`, body)
    answer = async () => ({ ok: false, status: 500, content: 'Status 500\n\noops', body: 'oops' })
    expect((await run()).json).toMatchObject({ ok: false, status: 500, body: 'oops' })
    answer = async () => ({ ok: false, status: null, content: 'city: is required', body: null })
    expect((await run({})).json).toMatchObject({ ok: false, status: null, body: null, message: 'city: is required' })
    answer = () => Promise.reject(new Error('a fault with s3cret'))
    const fault = await run({ arguments: null })
    expect([fault.status, fault.json.ok]).toEqual([200, false])
    expect(fault.text).not.toContain('s3cret')
    await db.sql`update http_tools set secret_headers = 'broken' where id = ${id}`
    const broken = await run()
    expect([broken.status, broken.json.ok]).toEqual([200, false])
    expect((await server.call('POST', `${path}/${nobody}/test`)).status).toBe(404)
    expect((await server.call('POST', `${path}/x/test`)).status).toBe(404)
    expect((await run({ arguments: 'text' })).status).toBe(400)
  })
})

verifies('contract-35.patterns', 'saving a tool names the patterns that are not applied', async () => {
  const schemaOf = (...patterns: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(patterns.map((pattern, index) => [`p${index}`, { type: 'string', pattern }])),
  })
  const { status, json } = await create({ name: 'Patterns', inputSchema: schemaOf('(?i)^a', '^https\\:', '^a\\Z') })
  expect([status, json.warning]).toEqual([
    201,
    'Not applied, as it is no regular expression of JavaScript or no keyword here: pattern "(?i)^a", pattern "^a\\\\Z".',
  ])
  expect(await read(json.id)).not.toHaveProperty('warning')
  const changed = await update(json.id, { description: 'Other.' })
  expect([changed.status, changed.json.warning]).toEqual([200, json.warning])
  const mended = await update(json.id, { inputSchema: schemaOf('^https\\:') })
  expect([mended.status, mended.json.warning]).toEqual([200, undefined])
  expect((await update(json.id, json)).status).toBe(200)
})
