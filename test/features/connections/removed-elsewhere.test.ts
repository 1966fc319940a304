/** A connection that is removed on one instance while another one uses it (contract section 27). */
import { afterAll, expect } from 'vitest'
import { call } from '../../http/scene.ts'
import { asks, callsOfTest, openToolScene } from '../../http/tool-scene.ts'
import { createBrowser, startSignInServers } from '../../support/network/sign-in-servers.ts'
import { verifies } from '../../verifies.ts'

const scene = await openToolScene({ settings: { OUTBOUND_ALLOW: '127.0.0.1' } })
const settings = { OUTBOUND_ALLOW: '127.0.0.1', DATABASE_URL: scene.app.databaseUrl }
const other = await openToolScene({ settings })
const servers = await startSignInServers({ listsOpenly: true })
afterAll(async () => {
  await other.close()
  await scene.close()
  await servers[Symbol.asyncDispose]()
})
const model = callsOfTest(scene)
const mcpServerId = await scene.createMcpServer({ name: 'shop', url: servers.url, auth: 'user' })
// The first use of MCP takes long on a busy machine.
await scene.call('GET', `/api/v1/mcp-servers/${mcpServerId}/tools`)
await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
const { now, seen } = servers
const orders = (id: string) => asks('', { name: 'shop__orders', arguments: '{}', id })

verifies('contract-27.connections', 'a call under way ends as it will, and the next one is sent no token', async () => {
  const { id: first } = (await scene.call('POST', scene.sessions, { user: 'ann' })).json
  scene.up.next(orders('c1'))
  scene.says(['Done.'])
  await scene.send(first, 'Hello')
  const [{ url }] = (await scene.call('GET', `${scene.sessions}/${first}`)).json.pending
  await createBrowser(scene.app.url).signIn(url)
  await expect.poll(() => seen.calls.length).toBe(1)
  await expect.poll(async () => (await scene.messages(first)).at(-1).status).toBe('complete')

  const { id } = (await scene.call('POST', scene.sessions, { user: 'ann' })).json
  const held = Promise.withResolvers<void>()
  now.callHeld = held.promise
  scene.up.next(orders('c2'))
  scene.up.next(orders('c3'))
  const said = { messages: [{ role: 'user', content: 'Again' }] }
  const reply = call(`${other.app.url}${scene.sessions}/${id}/chat/completions`, 'POST', said)
  await expect.poll(() => seen.calls.length).toBe(2)
  const connection = `${scene.agent}/deploy/users/ann/connections/${mcpServerId}`
  expect((await scene.call('DELETE', connection)).status).toBe(204)
  held.resolve()
  expect((await reply).status).toBe(200)
  const { messages } = await model.sent(4)
  expect(messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'c2', content: 'Order 7.' })
  const { pending } = (await scene.call('GET', `${scene.sessions}/${id}`)).json
  expect(pending).toMatchObject([{ call_id: 'c3', kind: 'sign_in' }])
  expect(seen.calls).toHaveLength(2)
})
