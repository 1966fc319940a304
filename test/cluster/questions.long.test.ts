/** A question of an MCP server outlives its instances, and is answered once (contract section 27). */
import { afterEach, beforeEach, expect } from 'vitest'
import { call } from '../http/scene.ts'
import { asks, says } from '../http/tool-scene.ts'
import { startAskingServer } from '../support/network/asking-server.ts'
import { newSession, postJson } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'
import { completions, openScene, type Scene, say } from './scene.ts'

let scene: Scene
let server: Awaited<ReturnType<typeof startAskingServer>>
// Each try has a world of its own.
beforeEach(async () => {
  scene = await openScene({ redis: false })
  server = await startAskingServer()
})
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  await scene?.close()
})

verifies(
  'contract-27.question-crash',
  'all instances are killed, two people answer at once, and it is sent once',
  async () => {
    const { cluster, up, agent } = scene
    const [here = '', other = ''] = cluster.urls
    const made = await call(`${here}/api/v1/mcp-servers`, 'POST', {
      name: 'asks',
      transport: 'streamable_http',
      url: server.url,
    })
    // A list has 3 s, and the first use of MCP takes long on a busy machine.
    const list = async (url: string) =>
      expect((await call(`${url}/api/v1/mcp-servers/${made.json.id}/tools`, 'GET')).status).toBe(200)
    await list(here)
    const choice = { mcpServers: [{ mcpServerId: made.json.id, toolNames: ['*'] }] }
    expect((await call(`${here}/api/v1/agents/${agent}/tools`, 'PUT', choice)).status).toBe(200)
    const session = await newSession(here, agent)
    up.next(asks('', { name: 'asks__form', arguments: '{}', id: 'c1' }))
    up.always(says('Done.'))
    expect((await postJson(completions(here, session), say('Hello', false))).status).toBe(200)
    expect((await call(`${here}${session}`, 'GET')).json.pending).toMatchObject([{ call_id: 'c1', kind: 'input' }])
    await Promise.all(cluster.products.map((_, index) => cluster.kill9(index)))
    await Promise.all(cluster.products.map((_, index) => cluster.restart(index)))
    await Promise.all([list(here), list(other)])
    const answer = (age: number) => ({ decisions: [{ call_id: 'c1', decision: 'answer', content: { age } }] })
    const decided = await Promise.all(
      [here, other].map((url, age) => postJson(`${url}${session}/actions`, answer(age + 1))),
    )
    expect(decided.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(server.calls).toHaveLength(2)
    const winner = decided.findIndex(({ status }) => status === 200)
    expect(server.calls[1]?.responses).toEqual({ who: { action: 'accept', content: { age: winner + 1 } } })
    expect((await call(`${other}${session}`, 'GET')).json.pending).toEqual([])
  },
)
