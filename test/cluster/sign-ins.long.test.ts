/** A sign-in at an MCP server outlives its instances, and its call is made once (contract section 27). */
import { afterEach, beforeEach, expect } from 'vitest'
import { call } from '../http/scene.ts'
import { asks, says } from '../http/tool-scene.ts'
import { createBrowser, startSignInServers } from '../support/network/sign-in-servers.ts'
import { newSession, postJson } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'
import { completions, newest, openScene, type Scene, say } from './scene.ts'

/** The address of all instances, as browsers know it. The test goes to one of them in its place. */
const PUBLIC_URL = 'http://127.0.0.1:9'

let scene: Scene
let servers: Awaited<ReturnType<typeof startSignInServers>>
// Each try has a world of its own.
beforeEach(async () => {
  const env = { PUBLIC_URL, OUTBOUND_ALLOW: '127.0.0.1' }
  scene = await openScene({ redis: false, instances: 2, env })
  servers = await startSignInServers({ listsOpenly: true })
})
afterEach(async () => {
  await servers?.[Symbol.asyncDispose]()
  await scene?.close()
})

verifies(
  'contract-27.sign-in-crash',
  'all instances are killed, the callback goes to another one, which is killed too, and the call is made once',
  async () => {
    const { cluster, up, agent } = scene
    const [here = '', other = ''] = cluster.urls
    expect((await call(`${here}/api/v1/agents/${agent}`, 'PUT', { onLoss: 'continue' })).status).toBe(200)
    const fields = { name: 'shop', transport: 'streamable_http', auth: 'user', url: servers.url }
    const made = await call(`${here}/api/v1/mcp-servers`, 'POST', fields)
    // It is asked for its list, which it gives to all. A list has 3 s, and the first use of MCP takes long on a busy machine.
    await call(`${here}/api/v1/mcp-servers/${made.json.id}/tools`, 'GET')
    const choice = { mcpServers: [{ mcpServerId: made.json.id, toolNames: ['*'] }] }
    expect((await call(`${here}/api/v1/agents/${agent}/tools`, 'PUT', choice)).status).toBe(200)
    const session = await newSession(here, agent, { user: 'ann' })
    up.next(asks('', { name: 'shop__orders', arguments: '{}', id: 'c1' }))
    expect((await postJson(completions(here, session), say('Hello', false))).status).toBe(200)
    await Promise.all([cluster.kill9(0), cluster.kill9(1)])
    await Promise.all([cluster.restart(0), cluster.restart(1)])
    await call(`${other}/api/v1/mcp-servers/${made.json.id}/tools`, 'GET')
    const [entry] = (await call(`${other}${session}`, 'GET')).json.pending
    expect(entry).toMatchObject({ kind: 'sign_in', url: expect.stringMatching(`^${PUBLIC_URL}/api/oauth/start/`) })

    const browser = createBrowser(PUBLIC_URL)
    const callback = await browser.authorized(entry.url.replace(PUBLIC_URL, here))
    await cluster.kill9(0)
    const told = Promise.withResolvers<void>()
    up.next(async ({ closed }) => {
      told.resolve()
      await closed
    })
    up.always(says('Done.'))
    const at = (url: string) => callback.replace(PUBLIC_URL, url)
    expect((await browser.go(at(other))).status).toBe(200)
    await told.promise
    await cluster.kill9(1)
    await Promise.all([cluster.restart(0), cluster.restart(1)])
    await expect.poll(() => newest(here, session)).toMatchObject({ status: 'complete', content: 'Done.' })
    expect(servers.seen.calls).toHaveLength(1)
    expect((await browser.go(at(here))).status).toBe(400)
    expect(servers.seen.tokens).toHaveLength(1)
  },
)
