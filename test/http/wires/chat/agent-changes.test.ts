/** Agents are remembered; what was changed anywhere is seen by the next request everywhere. */
import { afterAll, beforeAll, expect } from 'vitest'
import { createAgentLookup } from '../../../../src/persistence/records/agent-lookup.ts'
import { createAgent, startTestApp, type TestApp } from '../../../support/app.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { startUpstream, type Upstream } from '../../../support/network/upstream.ts'
import { contentOf, openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { call } from '../../scene.ts'

let database: FreshDatabase
let up: Upstream
let here: TestApp
let there: TestApp
let closing: AsyncDisposableStack
beforeAll(async () => {
  await using stack = new AsyncDisposableStack()
  database = await freshDatabase({ version: 18 })
  stack.defer(() => database.drop())
  up = stack.use(await startUpstream())
  // Says which model it was asked for, and what its system prompt was.
  up.always(async (asked) => {
    await asked.text(`${asked.body.model} ${asked.body.messages[0].content}`)
    await asked.finish()
  })
  const open = async () => stack.use(await startTestApp({ database }))
  ;[here, there] = [await open(), await open()]
  closing = stack.move()
})
afterAll(() => closing?.disposeAsync())

const hello = { messages: [{ role: 'user', content: 'go' }] }

async function newAgent() {
  const { agentId } = await createAgent(here, { type: 'openai-compatible', baseUrl: up.url, system: 'old' })
  const path = `/api/v1/agents/${agentId}`
  const { json } = await call(`${here.url}${path}`, 'GET')
  return { agentId, path, promptId: json.promptId, providerId: json.providerId }
}

/** What the next reply says, by each of the ways to one. */
const ways = {
  stateless: async (path: string) =>
    (await call(`${here.url}${path}/deploy/chat/completions`, 'POST', hello)).json.choices[0].message.content,
  'stateless, streamed': async (path: string) => {
    const stream = await openSse(`${here.url}${path}/deploy/chat/completions`, { ...hello, stream: true })
    return contentOf((await stream.rest()).frames)
  },
  session: async (path: string) => {
    const { json } = await call(`${here.url}${path}/deploy/sessions`, 'POST', {})
    const url = `${here.url}${path}/deploy/sessions/${json.session_id ?? json.id}/chat/completions`
    return (await call(url, 'POST', hello)).json.choices[0].message.content
  },
}

for (const [way, ask] of Object.entries(ways)) {
  verifies('contract-2.changes', `${way}: what another instance has changed shows in the next reply`, async () => {
    const { path, promptId } = await newAgent()
    expect(await ask(path)).toContain('old')
    for (let n = 0; n < 20; n++) {
      await ask(path)
      await call(`${there.url}${path}`, 'PUT', { model: `model-${n}` })
      expect(await ask(path)).toBe(`model-${n} ${n === 0 ? 'old' : `prompt ${n - 1}`}`)
      await call(`${there.url}/api/v1/prompts/${promptId}`, 'PUT', { content: `prompt ${n}` })
      expect(await ask(path)).toBe(`model-${n} prompt ${n}`)
    }
  })

  verifies('contract-2.changes', `${way}: an agent that another instance has deleted is 404`, async () => {
    const { path } = await newAgent()
    await ask(path)
    const { json } = await call(`${here.url}${path}/deploy/sessions`, 'POST', {})
    expect((await call(`${there.url}${path}`, 'DELETE')).status).toBe(204)
    for (const body of [hello, { ...hello, stream: true }]) {
      for (const under of ['', `/sessions/${json.session_id ?? json.id}`]) {
        const refused = await call(`${here.url}${path}/deploy${under}/chat/completions`, 'POST', body)
        expect([refused.status, refused.json]).toEqual([404, { error: 'There is no such agent.' }])
      }
    }
  })
}

verifies(
  'contract-2.changes',
  'a provider whose key nobody could open is asked again once that is mended',
  async () => {
    const { path, providerId } = await newAgent()
    const { json } = await call(`${here.url}${path}/deploy/sessions`, 'POST', {})
    const url = `${here.url}${path}/deploy/sessions/${json.session_id ?? json.id}/chat/completions`
    await database.sql`update providers set api_key = 'broken' where id = ${providerId}`
    expect((await call(url, 'POST', hello)).status).toBe(500)
    await database.sql`update providers set api_key = null where id = ${providerId}`
    expect((await call(url, 'POST', hello)).status).toBe(200)
  },
)

verifies('contract-2.changes', 'a change of anything costs no model call', async () => {
  const { path } = await newAgent()
  for (const ask of Object.values(ways)) {
    await ask(path)
    await newAgent()
    const before = up.calls.length
    await ask(path)
    expect(up.calls.length - before).toBe(1)
  }
})

verifies('contract-26.configuration', 'changes of everything else, without a pause, refuse no message', async () => {
  const { path } = await newAgent()
  let isOver = false
  const changing = Array.from({ length: 4 }, async () => {
    while (!isOver) await database.sql`update configuration set version = version + 1`
  })
  const { json } = await call(`${here.url}${path}/deploy/sessions`, 'POST', {})
  const statuses: number[] = []
  for (let n = 0; n < 20; n++) {
    statuses.push((await call(`${here.url}${path}/deploy/sessions/${json.id}/chat/completions`, 'POST', hello)).status)
  }
  isOver = true
  await Promise.all(changing)
  expect(statuses).toEqual(Array(20).fill(200))
})

verifies('contract-2.changes', 'every change raises the version, once a transaction; no other write does', async () => {
  const { sql } = database
  const lookup = createAgentLookup(sql, { alone: false })
  const { agentId, promptId, providerId } = await newAgent()
  const version = async () => (await lookup.find(agentId))?.configuration
  const first = Number(await version())
  const changes = [
    () => sql`update agents set model = 'x' where id = ${agentId}`,
    () => sql`update prompts set content = 'x' where id = ${promptId}`,
    () => sql`update providers set base_url = 'https://x.com' where id = ${providerId}`,
    () => sql`with t as (insert into http_tools (name, description, method, url) values ('t', '', 'GET', 'https://x.com') returning id)
              insert into agent_http_tools (agent_id, http_tool_id, place) select ${agentId}, id, 0 from t`,
    () => sql`delete from http_tools where name = 't'`, // takes the choice along
    () =>
      sql.begin(async (tx) => {
        for (const model of ['a', 'b', 'c']) await tx`update agents set model = ${model} where id = ${agentId}`
      }),
  ]
  for (const [n, change] of changes.entries()) {
    await change()
    expect(await version()).toBe(first + n + 1)
  }
  expect(await lookup.find(agentId)).toMatchObject({ model: 'c', system: 'x', provider: { baseUrl: 'https://x.com' } })
  await sql`insert into sessions (agent_id) values (${agentId})`
  expect(await version()).toBe(first + changes.length)
})

verifies(
  'contract-2.changes',
  'agents are forgotten when they are gone, and the oldest when there are many',
  async () => {
    const { sql } = database
    const lookup = createAgentLookup(sql, { alone: false })
    const { agentId, providerId } = await newAgent()
    expect(lookup.remembered(agentId)).toBeNull()
    const agent = await lookup.find(agentId.toUpperCase())
    expect(lookup.remembered(agentId.toUpperCase())).toBe(agent)
    expect(await lookup.find(agentId)).toBe(agent)
    const others = await sql<{ id: string }[]>`
    insert into agents (name, provider_id, model) select 'n' || n, ${providerId}, 'm' from generate_series(1, 1000) n returning id`
    await Promise.all(others.map(({ id }) => lookup.find(id)))
    expect([lookup.remembered(agentId), lookup.remembered(others.at(-1)?.id ?? '')?.name]).toEqual([null, 'n1000'])
    await sql`delete from agents where id = any (${others.map(({ id }) => id)}::uuid[])`
    expect(await lookup.find(others.at(-1)?.id ?? '')).toBeNull()
    expect(lookup.remembered(others.at(-1)?.id ?? '')).toBeNull()
  },
)
