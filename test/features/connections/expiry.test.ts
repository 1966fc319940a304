/** Approvals that expire beside sign-ins and questions of the same reply (contract sections 27 and 29). */
import { afterAll, expect } from 'vitest'
import { asks, openToolScene } from '../../http/tool-scene.ts'
import { startAskingServer } from '../../support/network/asking-server.ts'
import { createBrowser, startSignInServers } from '../../support/network/sign-in-servers.ts'
import { verifies } from '../../verifies.ts'

const scene = await openToolScene({ settings: { OUTBOUND_ALLOW: '127.0.0.1' } })
const servers = await startSignInServers({ listsOpenly: true })
const asker = await startAskingServer()
afterAll(async () => {
  await scene.close()
  await servers[Symbol.asyncDispose]()
  await asker[Symbol.asyncDispose]()
})
const shop = await scene.createMcpServer({ name: 'shop', url: servers.url, auth: 'user' })
const asker2 = await scene.createMcpServer({ name: 'asks', url: asker.url })
// The first use of MCP takes long on a busy machine.
await scene.call('GET', `/api/v1/mcp-servers/${shop}/tools`)
await scene.choose({
  builtInToolIds: ['current_time'],
  mcpServers: [shop, asker2].map((mcpServerId) => ({ mcpServerId, toolNames: ['*'] })),
  approvals: ['current_time'],
  approvalsExpireAfterS: 60,
})

/** Lets the approval beside a call of this tool expire. Returns the session, which waits for what the tool needs. */
async function expired(tool: string) {
  const { id } = (await scene.call('POST', scene.sessions, { user: 'ann' })).json
  const pending = async () => (await scene.call('GET', `${scene.sessions}/${id}`)).json.pending
  const time = { name: 'current_time', arguments: '{}', id: 'c1' }
  scene.up.next(asks('', time, { name: tool, arguments: '{}', id: 'c2' }))
  scene.says(['Done.'])
  await scene.send(id, 'Hello')
  expect(await pending()).toMatchObject([{ call_id: 'c1', kind: 'approval', expires_at: expect.any(String) }])
  await scene.app.sql`update waits set expires_at = clock_timestamp() where session_id = ${id}`
  await expect.poll(async () => (await pending()).map(({ call_id }: { call_id: string }) => call_id)).toEqual(['c2'])
  const [entry] = await pending()
  expect(entry).not.toHaveProperty('expires_at')
  return { id, entry }
}

/** The session's calls when its reply has gone on to its end. */
async function settled(id: string) {
  await expect
    .poll(async () => (await scene.messages(id)).at(-1))
    .toMatchObject({ status: 'complete', content: 'Done.' })
  return (await scene.shown(id)).flatMap(({ toolCalls = [] }) => toolCalls)
}

verifies(
  ['contract-29.expires', 'contract-27.goes-on'],
  'a sign-in waits on when an approval beside it has expired, and then begins the reply',
  async () => {
    const { id, entry } = await expired('shop__orders')
    expect(entry.kind).toBe('sign_in')
    expect((await createBrowser(scene.app.url).signIn(entry.url)).status).toBe(200)
    expect(await settled(id)).toMatchObject([
      { id: 'c1', decision: 'expired', decidedBy: null, ok: false },
      { id: 'c2', decision: 'signed_in', decidedBy: 'ann', ok: true },
    ])
    expect(servers.seen.calls).toHaveLength(1)
  },
)

verifies(
  ['contract-29.expires', 'contract-27.sent-again'],
  'a question waits on when an approval beside it has expired, and its answer is sent once',
  async () => {
    const { id, entry } = await expired('asks__form')
    expect(entry.kind).toBe('input')
    const decisions = [{ call_id: 'c2', decision: 'answer', content: { age: 7 } }]
    expect((await scene.call('POST', `${scene.sessions}/${id}/actions`, { decisions })).status).toBe(200)
    expect(await settled(id)).toMatchObject([
      { id: 'c1', decision: 'expired' },
      { id: 'c2', decision: 'answer', ok: true },
    ])
    expect(asker.calls.filter(({ responses }) => responses !== undefined)).toHaveLength(1)
  },
)
