/** Contract section 2, MCP servers; specification 2.6 and 4.9. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { McpServerDependencies, ReachableServer } from '../../../../src/http/management/records/mcp-servers.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'
import { type Server, startServer } from '../server.ts'

const path = '/api/v1/mcp-servers'
const nobody = '11111111-1111-4111-8111-111111111111'
let db: FreshDatabase
let server: Server
let warning: string | null = null
let discover: McpServerDependencies['discoverTools']
let changed: string[] = []

beforeAll(async () => {
  db = await freshDatabase()
  server = await startServer({
    sql: db.sql,
    tools: {
      discoverTools: (mcpServer, signal) => discover(mcpServer, signal),
      discoveryWarning: async () => warning,
      onMcpServerChange: (id) => changed.push(id),
    },
  })
})
afterAll(async () => {
  await server.close()
  await db.drop()
})

const required = { name: 'Files', transport: 'streamable_http', url: 'https://a.com/mcp' }
const create = (fields: object = {}) => server.call('POST', path, { ...required, ...fields })
const update = (id: string, body: object) => server.call('PUT', `${path}/${id}`, body)

verifies(
  ['spec-4.9.mcp-servers', 'spec-2.6.mcp-server'],
  'are created, read, listed, changed and deleted',
  async () => {
    const { status, json } = await create({ headers: { Authorization: 's3cret', 'X-A': 'v' } })
    expect(status).toBe(201)
    expect(json).toEqual({
      id: expect.any(String),
      ...required,
      auth: 'none',
      oauthClientId: null,
      oauthClientSecret: null,
      sendUser: false,
      headers: { Authorization: '***', 'X-A': 'v' },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await server.call('GET', `${path}/${json.id}`)).json).toEqual(json)
    const list = (await server.call('GET', path)).json
    expect(list).toEqual({ mcpServers: [json], total: 1, limit: 20, offset: 0 })
    const { updatedAt: _, ...rest } = json
    changed = []
    expect((await update(json.id, { transport: 'sse', name: 'New' })).json).toMatchObject({
      ...rest,
      transport: 'sse',
      name: 'New',
    })
    expect((await server.call('DELETE', `${path}/${json.id.toUpperCase()}`)).status).toBe(204)
    expect(changed).toEqual([json.id, json.id])
    for (const id of [json.id, nobody, 'x']) {
      expect((await server.call('GET', `${path}/${id}`)).status).toBe(404)
      expect((await update(id, {})).status).toBe(404)
      expect((await server.call('DELETE', `${path}/${id}`)).status).toBe(404)
      expect((await server.call('GET', `${path}/${id}/tools`)).status).toBe(404)
    }
  },
)

test.each([
  [{ name: undefined }, 'name'],
  [{ transport: undefined }, 'transport'],
  [{ transport: 'stdio' }, 'transport'],
  [{ url: undefined }, 'url'],
  [{ url: 'https://u:p@a.com/' }, 'url'],
  [{ url: 'https://a.com/{{x}} y' }, 'url'],
  [{ headers: { Authorization: '***' } }, 'headers.Authorization'],
  [{ headers: { 'a b': 'x' } }, 'headers.a b'],
])('create with %j is 400 naming %s', async (fields, field) => {
  const { status, json } = await create(fields)
  expect([status, json]).toEqual([400, { message: expect.stringContaining(`${field}:`) }])
})

verifies('contract-2.secret-headers', 'of an MCP server move to another origin only when sent again', async () => {
  const before = (await create({ headers: { Cookie: 's3cret' } })).json
  changed = []
  expect((await update(before.id, { url: 'https://b.com/mcp' })).status).toBe(400)
  expect((await update(before.id, { url: 'https://b.com/mcp', headers: { Cookie: '***' } })).status).toBe(400)
  expect((await server.call('GET', `${path}/${before.id}`)).json).toEqual(before)
  expect(changed).toEqual([])
  expect((await update(before.id, { url: 'https://a.com/other', headers: { cookie: '***' } })).status).toBe(200)
  let reached: ReachableServer | null = null
  discover = async (mcpServer) => {
    reached = mcpServer
    return []
  }
  await server.call('GET', `${path}/${before.id}/tools`)
  expect(reached).toMatchObject({
    url: 'https://a.com/other',
    headers: { cookie: 's3cret' },
    transport: 'streamable_http',
  })
})

verifies(
  'contract-2.mcp-tools',
  'discovery lists name, description and inputSchema; a server that fails is 502',
  async () => {
    const { id } = (await create()).json
    const versions = new Set<string>()
    const tool = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' } }
    discover = async ({ version }) => {
      versions.add(version)
      return [{ ...tool, more: 1 }]
    }
    expect((await server.call('GET', `${path}/${id}/tools`)).json).toEqual({ tools: [tool] })
    warning = 'A page is missing.'
    expect((await server.call('GET', `${path}/${id}/tools`)).json).toEqual({ tools: [tool], warning })
    warning = null
    await update(id, { name: 'Another' })
    await server.call('GET', `${path}/${id}/tools`)
    expect(versions.size).toBe(2) // connections of the old version are not reused
    discover = () => Promise.reject(new Error(`connection refused ${'x'.repeat(10_000)}`))
    const { status, json } = await server.call('GET', `${path}/${id}/tools`)
    expect([status, json]).toEqual([502, { message: expect.stringContaining('connection refused') }])
    expect(json.message.length).toBeLessThan(1000)
    await db.sql`update mcp_servers set secret_headers = 'broken' where id = ${id}`
    expect((await server.call('GET', `${path}/${id}/tools`)).status).toBe(502)
  },
)
