/** On an embedded database the next start goes on with children, and with what they wait for (contract section 30). */
import { expect } from 'vitest'
import { asks, says } from '../http/tool-scene.ts'
import { startUpstream } from '../support/network/upstream.ts'
import {
  addAgent,
  dataFolder,
  messagesOf,
  newSession,
  type Product,
  postJson,
  startProduct,
} from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'

/** The desk asks billing, whose model has the same name; both go on after a loss. */
async function addBilling({ client }: Product, desk: string): Promise<void> {
  const path = { id: desk }
  const { data } = await client.PUT('/api/v1/agents/{id}', { params: { path }, body: { onLoss: 'continue' } })
  const made = await client.POST('/api/v1/agents', {
    body: { name: 'billing', model: 'billing', providerId: data?.providerId ?? '', onLoss: 'continue' },
  })
  const id = made.data?.id ?? ''
  const tools = [
    { agent: desk, body: { agentTools: [{ agentId: id }] } },
    { agent: id, body: { builtInToolIds: ['current_time'], approvals: ['current_time'] } },
  ]
  for (const { agent, body } of tools) {
    const { error } = await client.PUT('/api/v1/agents/{agent_id}/tools', {
      params: { path: { agent_id: agent } },
      body,
    })
    if (error) throw new Error(JSON.stringify(error))
  }
}

const say = (content: string) => ({ messages: [{ role: 'user', content }] })

verifies(
  ['contract-30.child-loss', 'contract-30.child-once', 'contract-30.child-decided', 'contract-1.embedded'],
  'the start after a kill -9 joins the child that ran, and one that waits is decided from above',
  async () => {
    await using up = await startUpstream()
    await using folder = await dataFolder()
    const options = { dataDir: folder.path, direct: true }
    const runs = Promise.withResolvers<void>()
    const told: string[] = []
    let isAfter = false
    up.always(async (call) => {
      const { model, messages } = call.body
      const asked = messages.find(({ role }: { role: string }) => role === 'user').content
      const last = messages.at(-1)
      if (model !== 'billing') {
        const message = { name: 'billing', arguments: JSON.stringify({ message: asked }) }
        if (last.role !== 'tool') return await asks('', message)(call)
        told.push(last.content)
        return await says('Thanks.')(call)
      }
      if (asked === 'Wait!')
        return await (last.role === 'tool' ? says('Noon.') : asks('', { name: 'current_time', arguments: '{}' }))(call)
      if (isAfter) return await says('12 euros')(call)
      runs.resolve()
      await call.closed
    })
    let sessions: string[] = []
    {
      await using before = await startProduct(options)
      const agent = await addAgent(before, up.url)
      await addBilling(before, agent)
      sessions = [await newSession(before.url, agent), await newSession(before.url, agent)]
      const [runningOne, waitingOne] = sessions.map((session) => `${before.url}${session}/chat/completions`)
      expect((await postJson(waitingOne ?? '', say('Wait!'))).status).toBe(200)
      void postJson(runningOne ?? '', say('What does Ann owe?')).catch(() => {})
      await runs.promise
      await before.kill9()
    }
    isAfter = true
    await using after = await startProduct(options)
    const [running = '', waiting = ''] = sessions
    const read = async (path: string) => Object(await (await fetch(`${after.url}${path}`)).json())
    const last = async (session: string) => (await messagesOf(after.url, session)).at(-1)?.content
    await expect.poll(() => last(running)).toBe('Thanks.')
    expect(told).toEqual(['12 euros'])
    const [entry] = (await read(waiting)).pending
    expect(entry).toMatchObject({ name: 'current_time', path: [{ session_id: expect.any(String) }] })
    const decisions = [{ call_id: entry.call_id, decision: 'approve' }]
    expect((await postJson(`${after.url}${waiting}/actions`, { decisions })).status).toBe(200)
    expect([await last(waiting), told.at(-1)]).toEqual(['Thanks.', 'Noon.'])
    for (const session of sessions) expect((await read(`${session}/children`)).total).toBe(1)
  },
)
