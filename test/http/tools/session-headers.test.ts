/** Values of the session in headers of MCP servers (contract section 27). */
import { afterAll, expect } from 'vitest'
import { startMcpServer } from '../../support/network/mcp-servers.ts'
import { verifies } from '../../verifies.ts'
import { asks, callsOfTest, openToolScene } from '../tool-scene.ts'

const scene = await openToolScene({ settings: { LOG_LEVEL: 'info' } })
afterAll(scene.close)
const model = callsOfTest(scene)

verifies('contract-27.header-names', 'only names of the session are saved, closed ones', async () => {
  const save = (fields: object) =>
    scene.call('POST', '/api/v1/mcp-servers', {
      name: 'm',
      transport: 'streamable_http',
      url: 'http://x.test/mcp',
      ...fields,
    })
  for (const value of ['{{now.date}}', '{{user}}', '{{session.name}}', '{{session.user', '{{session.metadata.a b}}']) {
    const { status, json } = await save({ headers: { 'x-a': value } })
    expect([value, status, json.message]).toEqual([value, 400, expect.stringMatching(/^headers\.x-a: /)])
  }
  const inUrl = await save({ url: 'http://x.test/{{session.user}}' })
  expect([inUrl.status, inUrl.json.message]).toEqual([400, expect.stringMatching(/^url: /)])
  const headers = {
    authorization: 'Bearer {{ session.user | nobody }}',
    'x-a': '{{session.id}} {{session.metadata.a-b}}',
  }
  expect((await save({ headers })).status).toBe(201)
})

verifies('contract-27.header-names', 'a record of before works until its next PUT', async () => {
  await using server = await startMcpServer('streamable_http, new era')
  const id = await scene.createMcpServer({ name: 'old', url: server.url, headers: { 'x-a': 'a' } })
  const stored = JSON.stringify({ 'x-a': '{{user}} {{session.user|none}}' })
  await scene.app.sql`update mcp_servers set headers = ${stored}::text::json where id = ${id}`
  const tools = await scene.call('GET', `/api/v1/mcp-servers/${id}/tools`)
  expect(tools.status).toBe(200)
  expect(server.requests[0]?.headers['x-a']).toBe('{{user}} none')
  expect((await scene.call('PUT', `/api/v1/mcp-servers/${id}`, { name: 'new' })).status).toBe(400)
  expect((await scene.call('PUT', `/api/v1/mcp-servers/${id}`, { name: 'new', headers: {} })).status).toBe(200)
})

verifies(
  'contract-27.header-values',
  'each session has its own list and connection, with its values in every request',
  async () => {
    await using server = await startMcpServer('streamable_http, new era')
    const id = await scene.createMcpServer({
      name: 'own',
      url: server.url,
      headers: { authorization: 'Bearer {{session.user}}', 'x-plan': '{{session.metadata.plan|free}}' },
    })
    await scene.choose({ mcpServers: [{ mcpServerId: id, toolNames: ['*'] }] })
    const open = async (user: string, metadata: object) =>
      (await scene.call('POST', scene.sessions, { user, metadata })).json.id
    for (const session of [await open('Zoë', { plan: 'gold' }), await open('bob', {})]) {
      scene.up.next(asks('', { name: 'own__echo', arguments: '{"text":"a"}' }))
      scene.says(['Done.'])
      expect((await scene.send(session, 'Hello')).headers.get('x-greenroom-missing-tools')).toBeNull()
    }
    const told = server.requests.map(({ rpc, headers }) => [rpc, headers.authorization, headers['x-plan']])
    for (const [user, plan] of [
      [Buffer.from('Zoë').toString('latin1'), 'gold'],
      ['bob', 'free'],
    ]) {
      const own = told.filter(([, authorization]) => authorization === `Bearer ${user}`)
      expect(own.map(([rpc]) => rpc)).toEqual(expect.arrayContaining(['tools/list', 'tools/call']))
      expect(new Set(own.map(([, , sent]) => sent))).toEqual(new Set([plan]))
    }
    expect(told.filter(([, authorization]) => !/ (Zo|bob)/.test(`${authorization}`))).toEqual([])
    const listed = await scene.call('GET', `/api/v1/mcp-servers/${id}/tools`)
    expect([listed.status, listed.json.message]).toEqual([502, expect.stringContaining('session.user')])
  },
)

verifies('contract-27.header-values', 'a value that no header can carry makes the server missing', async () => {
  await using server = await startMcpServer('streamable_http, new era')
  const id = await scene.createMcpServer({
    name: 'line',
    url: server.url,
    headers: { 'x-a': '{{session.metadata.a}}' },
  })
  await scene.choose({ mcpServers: [{ mcpServerId: id, toolNames: ['*'] }] })
  const session = (await scene.call('POST', scene.sessions, { metadata: { a: 'a\nb: c' } })).json.id
  scene.says(['Done.'])
  const { headers } = await scene.send(session, 'Hello')
  expect(headers.get('x-greenroom-missing-tools')).toBe('line=no_value')
  expect(server.requests).toEqual([])
})

verifies('contract-27.header-values', 'a filled-in secret is masked in what a model reads', async () => {
  await using server = await startMcpServer('streamable_http, new era')
  const id = await scene.createMcpServer({
    name: 'leak',
    url: server.url,
    headers: { authorization: 'Bearer {{session.metadata.token}}' },
  })
  await scene.choose({ mcpServers: [{ mcpServerId: id, toolNames: ['*'] }] })
  const session = (await scene.call('POST', scene.sessions, { metadata: { token: 's3cret-s3cret' } })).json.id
  scene.up.next(asks('', { name: 'leak__echo', arguments: '{"text":"it is s3cret-s3cret"}' }))
  scene.says(['Done.'])
  await scene.send(session, 'Hello')
  const { messages } = await model.sent(2)
  expect(messages.at(-1).content).toBe('it is [removed]')
})
