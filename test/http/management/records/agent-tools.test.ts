/** Contract section 2, agent tools; specification 2.4, 2.7, 4.7 and 4.10. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readyTools } from '../../../../src/persistence/records/tools/ready-tools.ts'
import { keepOldNames } from '../../../../src/persistence/records/tools/tool-approvals.ts'
import { workOutOldNames } from '../../../../src/tools/naming/approvals.ts'
import { createAgent } from '../../../support/app.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'
import { type Server, secrets, startServer } from '../server.ts'

const nobody = '11111111-1111-4111-8111-111111111111'
const nothing = {
  httpToolIds: [],
  mcpServers: [],
  builtInToolIds: [],
  agentTools: [],
  approvals: [],
  approvalsExpireAfterS: null,
}
let db: FreshDatabase
let server: Server
let agentId = ''

beforeAll(async () => {
  db = await freshDatabase()
  server = await startServer({ sql: db.sql })
})
beforeEach(async () => {
  agentId = (await createAgent(db)).agentId
})
afterAll(async () => {
  await server.close()
  await db.drop()
})

const tool = async (headers: object = {}): Promise<string> => {
  const fields = { name: 'T', description: 'D', method: 'GET', url: 'https://a.com/', headers }
  return (await server.call('POST', '/api/v1/http-tools', fields)).json.id
}
const mcp = async (headers: object = {}): Promise<string> => {
  const fields = { name: 'M', transport: 'sse', url: 'https://a.com/', headers }
  return (await server.call('POST', '/api/v1/mcp-servers', fields)).json.id
}
const get = () => server.call('GET', `/api/v1/agents/${agentId}/tools`)
const put = (body: object) => server.call('PUT', `/api/v1/agents/${agentId}/tools`, body)

verifies(
  ['spec-4.7.built-in-tools', 'spec-2.4.built-in-tool'],
  'built-in tools are listed with id, name and description',
  async () => {
    const { json } = await server.call('GET', '/api/v1/built-in-tools')
    expect(json).toEqual({ builtInTools: [{ id: 'web_fetch', name: 'Fetch', description: 'Fetches.' }] })
  },
)

verifies(
  ['spec-4.10.agent-tools', 'spec-2.7.agent-tools', 'contract-15.approvals'],
  'PUT returns the selection in its order; absent arrays keep, [] and null clear',
  async () => {
    expect((await get()).json).toEqual(nothing)
    const [a, b, m] = [await tool(), await tool(), await mcp()]
    const choice = {
      httpToolIds: [b, a],
      mcpServers: [{ mcpServerId: m, toolNames: ['*'] }],
      builtInToolIds: ['web_fetch'],
      approvals: ['pay', '*'],
      agentTools: [],
      approvalsExpireAfterS: null,
    }
    expect(await put(choice)).toMatchObject({ status: 200, json: choice })
    expect((await get()).json).toEqual(choice)
    expect((await put({})).json).toEqual(choice)
    expect((await put({ httpToolIds: [a] })).json).toEqual({ ...choice, httpToolIds: [a] })
    expect((await put({ mcpServers: [{ mcpServerId: m, toolNames: [] }] })).json.mcpServers).toEqual([
      { mcpServerId: m, toolNames: [] },
    ])
    expect((await put({ approvals: '*' })).json.approvals).toBe('*')
    expect((await put({ httpToolIds: [], mcpServers: null, approvals: null })).json).toEqual({
      ...nothing,
      builtInToolIds: ['web_fetch'],
    })
    expect((await put({ builtInToolIds: [] })).json).toEqual(nothing)
  },
)

test('ids are returned in one form, without duplicates', async () => {
  const [a, m] = [await tool(), await mcp()]
  const twice = [
    { mcpServerId: m, toolNames: ['x', 'y'] },
    { mcpServerId: m.toUpperCase(), toolNames: ['y', 'z'] },
  ]
  const { json } = await put({
    httpToolIds: [a, a.toUpperCase()],
    mcpServers: twice,
    builtInToolIds: ['web_fetch', 'web_fetch'],
  })
  const merged = [{ mcpServerId: m, toolNames: ['x', 'y', 'z'] }]
  expect(json).toEqual({ ...nothing, httpToolIds: [a], mcpServers: merged, builtInToolIds: ['web_fetch'] })
})

verifies(
  'spec-4.10.agent-tools',
  'unknown ids are 400 naming the array and change nothing; unknown agents 404',
  async () => {
    const known = await tool()
    await put({ httpToolIds: [known] })
    for (const [field, value] of [
      ['httpToolIds', [known, nobody]],
      ['httpToolIds', ['malformed']],
      ['httpToolIds', [7]],
      ['httpToolIds', 'x'],
      ['mcpServers', [{ mcpServerId: nobody, toolNames: [] }]],
      ['mcpServers', [{ mcpServerId: known, toolNames: [] }]],
      ['mcpServers', [{ mcpServerId: await mcp() }]],
      ['builtInToolIds', ['web_search']],
    ] as const) {
      const { status, json } = await put({ httpToolIds: [], [field]: value })
      expect([status, json]).toEqual([400, { message: expect.stringMatching(new RegExp(`^${field}`)) }])
    }
    expect((await get()).json).toEqual({ ...nothing, httpToolIds: [known] })
    for (const id of [nobody, 'x']) {
      expect((await server.call('GET', `/api/v1/agents/${id}/tools`)).status).toBe(404)
      expect((await server.call('PUT', `/api/v1/agents/${id}/tools`, { builtInToolIds: ['web_search'] })).status).toBe(
        404,
      )
    }
  },
)

verifies('contract-2.tool-delete', 'a deleted tool or server is removed from the selections of agents', async () => {
  const [a, b, m] = [await tool(), await tool(), await mcp()]
  await put({ httpToolIds: [a, b], mcpServers: [{ mcpServerId: m, toolNames: ['*'] }] })
  expect((await server.call('DELETE', `/api/v1/http-tools/${a}`)).status).toBe(204)
  expect((await server.call('DELETE', `/api/v1/mcp-servers/${m}`)).status).toBe(204)
  expect((await get()).json).toEqual({ ...nothing, httpToolIds: [b] })
  await db.sql`select delete_agent(${agentId})`
  expect((await server.call('GET', `/api/v1/http-tools/${b}`)).status).toBe(200)
})

test('selecting and deleting at once: 200 or 400, never a selection of what is gone', async () => {
  for (let round = 0; round < 15; round++) {
    const [a, b] = [await tool(), await tool()]
    await put({ httpToolIds: [a, b] })
    const [chosen, other, removed] = await Promise.all([
      put({ httpToolIds: [b, a] }),
      put({ httpToolIds: [a, b] }),
      server.call('DELETE', `/api/v1/http-tools/${a}`),
    ])
    expect(removed.status).toBe(204)
    for (const { status } of [chosen, other]) expect([200, 400]).toContain(status)
    expect((await get()).json.httpToolIds).toEqual([b])
  }
})

test('a reply gets its tools in selection order, headers decrypted, without deleted or unreadable ones', async () => {
  const [a, b, broken] = [await tool({ Cookie: 's3cret' }), await tool(), await tool({ Cookie: 'x' })]
  const [m, lost] = [await mcp({ 'X-Token': 't0ken' }), await mcp({ 'X-Token': 'x' })]
  await db.sql`update http_tools set secret_headers = 'broken' where id = ${broken}`
  await db.sql`update mcp_servers set secret_headers = 'broken' where id = ${lost}`
  const ready = await readyTools(db.sql, secrets, {
    approvals: [],
    approvalsExpireAfterS: null,
    named: {},
    agentTools: [],
    httpToolIds: [b, nobody, broken, a],
    mcpServers: [
      { mcpServerId: lost, toolNames: ['*'] },
      { mcpServerId: m, toolNames: ['x'] },
    ],
    builtInToolIds: ['web_fetch'],
  })
  expect(ready.httpTools.map(({ id, headers }) => ({ id, headers }))).toEqual([
    { id: b, headers: {} },
    { id: a, headers: { Cookie: 's3cret' } },
  ])
  expect(ready.mcpServers).toMatchObject([{ server: { id: m, headers: { 'X-Token': 't0ken' } }, toolNames: ['x'] }])
  expect(ready.unreadable).toEqual([`http-tool:${broken}`, `mcp-server:${lost}`])
  expect(ready.builtInToolIds).toEqual(['web_fetch'])
})

const named = async () =>
  (await db.sql`select approval_names as named from agents where id = ${agentId}`)[0]?.named as Record<string, unknown>

verifies(
  'contract-25.approved-identities',
  'approvals name tools by identity, and are read as they were written; what is no such thing is 400',
  async () => {
    const [a, m] = [await tool(), await mcp()]
    const approvals = [{ httpToolId: a }, { builtInToolId: 'web_fetch' }, { mcpServerId: m, toolName: '*' }, 'T']
    const twice = [...approvals, { httpToolId: a.toUpperCase() }, { toolName: '*', mcpServerId: m }]
    expect((await put({ httpToolIds: [a], approvals: twice })).json.approvals).toEqual(approvals)
    expect((await get()).json.approvals).toEqual(approvals)
    for (const [approval, message] of [
      [7, /^approvals\.0: must be a name, \{builtInToolId\}/],
      ['', /^approvals\.0: must have at least 1 character/],
      [{}, /^approvals\.0: must be a name/],
      [{ httpToolId: 7 }, /^approvals\.0\.httpToolId: must be a string/],
      [{ httpToolId: a, name: 'x' }, /^approvals\.0\.name: is not a field/],
      [{ mcpServerId: m }, /^approvals\.0\.toolName: must be a string/],
      [{ builtInToolId: 'web_search' }, /^approvals\.0: there is no built-in tool "web_search"/],
      [{ httpToolId: nobody }, /^approvals: there is no HTTP tool/],
      [{ mcpServerId: 'x', toolName: 'y' }, /^approvals: there is no MCP server "x"/],
    ] as const) {
      const { status, json } = await put({ approvals: [approval] })
      expect([status, json.message]).toEqual([400, expect.stringMatching(message)])
    }
    const inherited = ['constructor', 'toString', '__proto__'] // such a tool is a tool like any other
    expect(await put({ approvals: inherited })).toMatchObject({ status: 200, json: { approvals: inherited } })
    await put({ approvals })
    // A tool that was deleted meanwhile does not keep what was read from being sent back.
    await server.call('DELETE', `/api/v1/http-tools/${a}`)
    expect(await put((await get()).json)).toMatchObject({ status: 200, json: { approvals } })
  },
)

verifies('contract-25.approved-identities', 'a name keeps what it meant, and means what has it now too', async () => {
  const [a, b] = [await tool(), await tool()]
  const rename = (id: string, name: string) => server.call('PUT', `/api/v1/http-tools/${id}`, { name })
  await rename(a, 'pay')
  await rename(b, 'look')
  await put({ httpToolIds: [a, b], approvals: ['pay', 'gone'] })
  expect(await named()).toEqual({ pay: [{ httpToolId: a }], gone: [] })
  await rename(a, 'look')
  await rename(b, 'pay')
  expect(await named()).toEqual({ pay: [{ httpToolId: a }], gone: [] })
  await put({ approvals: ['pay'] })
  expect(await named()).toEqual({ pay: [{ httpToolId: a }, { httpToolId: b }] })
  await put({ approvals: [] })
  expect(await named()).toEqual({})
})

verifies(
  'contract-25.old-approvals',
  'what older versions saved is worked out once, for all that shared a name',
  async () => {
    const [a, b] = [await tool(), await tool()]
    await put({ httpToolIds: [a, b], builtInToolIds: ['web_fetch'] })
    await db.sql`update agents set approvals = '["T_2", "web_fetch"]', approval_names = '{}' where id = ${agentId}`
    await Promise.all([keepOldNames(db.sql, workOutOldNames), keepOldNames(db.sql, workOutOldNames)])
    const meant = { T_2: [{ httpToolId: a }, { httpToolId: b }], web_fetch: [{ builtInToolId: 'web_fetch' }] }
    expect(await named()).toEqual(meant)
    await server.call('PUT', `/api/v1/http-tools/${a}`, { name: 'other' })
    await keepOldNames(db.sql, workOutOldNames)
    expect(await named()).toEqual(meant)
  },
)
