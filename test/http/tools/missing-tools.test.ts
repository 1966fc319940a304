/** MCP servers that give no list of tools: on record, in the header, in the prompt (contract section 27). */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect } from 'vitest'
import { startMcpServer } from '../../support/network/mcp-servers.ts'
import { verifies } from '../../verifies.ts'
import { asks, callsOfTest, openToolScene } from '../tool-scene.ts'

const scene = await openToolScene({ settings: {}, system: 'You help.' })
afterAll(scene.close)
const model = callsOfTest(scene)

/** A server that answers every request with this status. */
async function answering(status: number, text = '') {
  const http = createServer((request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  afterAll(() => http.close())
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}

const real = await startMcpServer('streamable_http, new era')
afterAll(() => real[Symbol.asyncDispose]())
const good = await scene.createMcpServer({ name: 'good', url: real.url })
// The SDK is loaded once a process, which on a busy machine takes longer than a reply waits for a list.
await scene.call('GET', `/api/v1/mcp-servers/${good}/tools`)
const add = async (name: string, url: string, fields: object = {}) => {
  const id = await scene.createMcpServer({ name, url, ...fields })
  return { mcpServerId: id, toolNames: ['*'] }
}

const servers = [
  await add('shut down', 'http://127.0.0.1:9/mcp'),
  await add('401', await answering(401)),
  await add('403', await answering(403)),
  await add('429', await answering(429)),
  await add('503', await answering(503)),
  await add('odd', await answering(200, 'hello')),
  await add('none', await answering(404)),
  { mcpServerId: good, toolNames: ['echo', 'is not there'] },
  await add('who', real.url, { headers: { 'x-user': '{{session.user}}' } }),
  await add('plan', real.url, { headers: { 'x-plan': '{{session.metadata.plan}}' } }),
]
const reasons = [
  ['shut down', 'unreachable'],
  ['401', 'unauthorized'],
  ['403', 'unauthorized'],
  ['429', 'unreachable'],
  ['503', 'unreachable'],
  ['odd', 'invalid'],
  ['none', 'invalid'],
  ['who', 'no_user'],
  ['plan', 'no_value'],
]
const line = `Tools not available in this reply: ${reasons
  .map(([name = '', reason]) => `${name.replace(' ', '_')} (${reason})`)
  .join(', ')}.`
const missing = reasons.map(([server, reason]) => ({ server, reason }))
const header = reasons.map(([name = '', reason]) => `${encodeURIComponent(name)}=${reason}`).join(',')

verifies(
  [
    'contract-27.missing-reasons',
    'contract-27.missing-record',
    'contract-27.missing-header',
    'contract-27.missing-prompt',
  ],
  'each missing server is told with its reason, in order, wherever it is to be read',
  async () => {
    await scene.choose({ mcpServers: servers })
    const id = await scene.newSession()
    scene.up.next(asks('', { name: 'good__echo', arguments: '{"text":"a"}' }))
    scene.says(['Done.'])
    const answer = await scene.send(id, 'Hello')
    expect(answer.headers.get('x-greenroom-missing-tools')).toBe(header)
    for (const nth of [1, 2]) {
      const [system] = (await model.sent(nth)).messages
      expect(system).toEqual({ role: 'system', content: `You help.\n\n${line}` })
    }
    const [, reply] = await scene.messages(id)
    expect(reply.missing_tools).toEqual(missing)
    const [, shown] = await scene.shown(id)
    expect(
      shown.missingTools.map(({ server, reason }: { server: string; reason: string }) => ({ server, reason })),
    ).toEqual(missing)
    expect(shown.missingTools[0].mcpServerId).toBe(servers[0]?.mcpServerId)
    const traced = await scene.call('GET', `/api/v1/debug/replies/${reply.id}/trace`)
    expect(traced.json.spans[0].detail.missingTools).toEqual(shown.missingTools)
  },
)

verifies(
  'contract-27.missing-record',
  'a running reply shows it before its first word, in a stream without the header',
  async () => {
    await scene.choose({ mcpServers: servers.slice(0, 1) })
    const id = await scene.newSession()
    const turn = scene.byHand()
    const stream = await scene.stream(id, 'Hello')
    expect(stream.headers.get('x-greenroom-missing-tools')).toBeNull()
    const call = await turn
    const [, running] = await scene.messages(id)
    expect(running).toMatchObject({ status: 'streaming', content: '', missing_tools: [missing[0]] })
    await call.text('Hi')
    await call.finish()
    await stream.rest()
  },
)

verifies('contract-27.missing-header', 'a stateless answer names them, and one without misses nothing', async () => {
  await scene.choose({ mcpServers: servers })
  scene.says(['Hi.'])
  const answer = await scene.stateless([{ role: 'user', content: 'Hello' }])
  expect(answer.headers.get('x-greenroom-missing-tools')).toBe(header)
  const long = [
    await add('ü'.repeat(100), 'http://127.0.0.1:9/mcp'),
    await add('ö'.repeat(100), 'http://127.0.0.1:9/mcp'),
  ]
  await scene.choose({ mcpServers: long })
  const cut = await scene.stateless([{ role: 'user', content: 'Hello' }])
  expect(cut.headers.get('x-greenroom-missing-tools')).toHaveLength(1024)
  await scene.choose({ mcpServers: servers.filter(({ mcpServerId }) => mcpServerId === good) })
  const whole = await scene.stateless([{ role: 'user', content: 'Hello' }])
  expect([whole.status, whole.headers.get('x-greenroom-missing-tools')]).toEqual([200, null])
  expect((await model.sent(3)).messages[0]).toEqual({ role: 'system', content: 'You help.' })
})

verifies('contract-27.on-missing-tools', 'fail ends the reply before any call', async () => {
  await scene.choose({ mcpServers: servers.slice(0, 2) })
  const put = (onMissingTools: unknown) => scene.call('PUT', scene.agent, { onMissingTools })
  expect((await put('maybe')).status).toBe(400)
  expect((await put('fail')).json.onMissingTools).toBe('fail')
  const exported = await scene.call('GET', '/api/v1/export')
  expect(exported.text).toContain('"onMissingTools":"fail"')
  const id = await scene.newSession()
  const answer = await scene.send(id, 'Hello')
  const message = 'Tools are not available: shut_down (unreachable), 401 (unauthorized).'
  expect([answer.status, answer.json, answer.headers.get('x-should-retry')]).toEqual([500, { error: message }, 'false'])
  expect(answer.headers.get('x-greenroom-missing-tools')).toBe('shut%20down=unreachable,401=unauthorized')
  const [, reply] = await scene.messages(id)
  expect(reply).toMatchObject({ status: 'error', missing_tools: missing.slice(0, 2) })
  const frames = (await (await scene.resume(id)).rest()).frames
  expect(JSON.parse(frames.at(-1)?.data ?? '').error).toMatchObject({ code: 'tools_unavailable', message })
  expect(model.count()).toBe(0)
  expect((await put(null)).json.onMissingTools).toBe('tell')
})

verifies('contract-27.on-missing-tools', 'an approved call of such a reply is never made', async () => {
  await using server = await startMcpServer('streamable_http, new era')
  const shop = await add('shop', server.url)
  await scene.choose({ mcpServers: [shop], approvals: [{ mcpServerId: shop.mcpServerId, toolName: '*' }] })
  const id = await scene.newSession()
  scene.up.next(asks('', { name: 'shop__echo', arguments: '{"text":"a"}', id: 'c1' }))
  await scene.send(id, 'Hello')
  await scene.choose({ mcpServers: [shop, servers[1]] })
  await scene.call('PUT', scene.agent, { onMissingTools: 'fail' })
  const decided = await scene.call('POST', `${scene.sessions}/${id}/actions`, {
    decisions: [{ call_id: 'c1', decision: 'approve' }],
  })
  await scene.call('PUT', scene.agent, { onMissingTools: 'tell' })
  expect(decided.status).toBe(500)
  expect(server.calls).toEqual([])
})
