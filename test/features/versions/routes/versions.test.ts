/** Contract section 28, versions: what makes one, and what publishing an older one does. */
import { afterAll, beforeAll, expect } from 'vitest'
import { nobody } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { openVersionScene, type VersionScene } from '../version-scene.ts'

let scene: VersionScene
beforeAll(async () => {
  scene = await openVersionScene()
})
afterAll(() => scene.close())

const tool = (name: string) => ({ name, description: 'd', method: 'GET', url: 'https://x.example/' })
const numbers = (versions: { number: number }[]) => versions.map(({ number }) => number)

verifies(
  'contract-28.versions',
  'each change makes one version; what changes nothing that it holds makes none',
  async () => {
    const agent = await scene.newAgent()
    const { promptId, version, hasDraft } = await agent.get()
    expect({ version, hasDraft }).toEqual({ version: 1, hasDraft: false })
    const changed = await agent.put({ model: 'm-2', fallbacks: [{ providerId: agent.providerId, model: 'f' }] })
    expect(changed.json.version).toBe(2)
    await agent.put({ model: 'm-2', name: 'Other', allowedOrigins: ['https://x.example'], userLimits: null })
    expect((await agent.get()).version).toBe(2)
    const toolId = await scene.made('/api/v1/http-tools', tool('look'))
    await agent.putTools({ httpToolIds: [toolId], approvals: ['look'] })
    expect((await agent.get()).version).toBe(3)
    await scene.ask('PUT', `/api/v1/prompts/${promptId}`, { name: 'Renamed' })
    expect((await agent.get()).version).toBe(3)
    await scene.ask('PUT', `/api/v1/prompts/${promptId}`, { content: 'You are v4.' })
    await scene.ask('PUT', `/api/v1/http-tools/${toolId}`, { description: 'another' })
    expect((await agent.get()).version).toBe(4)
    await scene.ask('DELETE', `/api/v1/http-tools/${toolId}`)
    expect(numbers(await agent.versions())).toEqual([5, 4, 3, 2, 1])
    expect((await agent.versions()).map(({ live }: { live: boolean }) => live)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
    expect(await agent.version(3)).toMatchObject({
      number: 3,
      note: null,
      live: false,
      agent: { model: 'm-2', promptId, systemPrompt: null, fallbacks: [{ providerId: agent.providerId, model: 'f' }] },
      tools: { httpToolIds: [toolId], mcpServers: [], builtInToolIds: [], approvals: ['look'] },
      prompt: { id: promptId, content: 'You are v1.' },
    })
    expect(Object.keys((await agent.version(3)).agent)).not.toContain('name')
  },
)

verifies('contract-28.versions', 'an import makes one version of each agent that it changes', async () => {
  const agent = await scene.newAgent()
  await agent.put({ name: 'Imported' })
  const { json } = await scene.ask('GET', '/api/v1/export')
  const agents = json.agents.filter(({ name }: { name: string }) => name === 'Imported')
  const body = {
    version: 1,
    agents: [{ ...agents[0], model: 'imported' }],
    agentTools: [{ agent: 'Imported', builtInTools: ['web_fetch'] }],
  }
  expect((await scene.ask('POST', '/api/v1/import', body)).json).toMatchObject({ updated: 2, skipped: [] })
  expect(numbers(await agent.versions())).toEqual([2, 1])
  expect(await agent.version(2)).toMatchObject({
    agent: { model: 'imported' },
    tools: { builtInToolIds: ['web_fetch'] },
  })
})

verifies('contract-28.numbers', 'changes on two instances at once make versions without gaps', async () => {
  const agent = await scene.newAgent()
  const { promptId } = await agent.get()
  const changes = Array.from({ length: 20 }, (_, n) => [
    scene.ask('PUT', agent.path, { model: `m-${n}` }, {}, n % 2 === 0 ? scene.here : scene.there),
    scene.ask('PUT', `/api/v1/prompts/${promptId}`, { content: `p-${n}` }, {}, n % 2 === 0 ? scene.there : scene.here),
  ]).flat()
  for (const { status } of await Promise.all(changes)) expect(status).toBe(200)
  const made = numbers(await agent.versions())
  expect(made).toEqual(Array.from({ length: 41 }, (_, n) => 41 - n))
  expect((await agent.get()).version).toBe(41)
})

verifies('contract-28.versions', 'an unknown number is 404 on both routes', async () => {
  const agent = await scene.newAgent()
  for (const n of ['2', '0', '-1', '1.0', 'x', '01', '99999999999']) {
    expect((await scene.ask('GET', `${agent.path}/versions/${n}`)).status).toBe(404)
    expect((await agent.publish(n)).status).toBe(404)
  }
  expect((await scene.ask('GET', `/api/v1/agents/${nobody}/versions`)).status).toBe(404)
  expect((await scene.ask('GET', `${agent.path}/versions?limit=0`)).status).toBe(400)
})

verifies('contract-28.system-prompt', 'one of both is set; both in one body are 400', async () => {
  const agent = await scene.newAgent()
  const { promptId } = await agent.get()
  expect((await agent.put({ systemPrompt: 'Own.' })).json).toMatchObject({ promptId: null, systemPrompt: 'Own.' })
  expect((await agent.put({ promptId })).json).toMatchObject({ promptId, systemPrompt: null })
  expect((await agent.put({ promptId, systemPrompt: 'x' })).status).toBe(400)
  expect((await agent.put({ systemPrompt: '{{session.nonsense}}' })).status).toBe(400)
  await agent.put({ systemPrompt: 'Own.', name: 'Speaks' })
  const { json } = await scene.ask('GET', '/api/v1/export')
  expect(json.agents.find(({ name }: { name: string }) => name === 'Speaks')).toMatchObject({
    prompt: null,
    systemPrompt: 'Own.',
  })
})

verifies('contract-28.publish', 'an older version is published as a new one, and changes no other agent', async () => {
  const agent = await scene.newAgent()
  const { promptId } = await agent.get()
  const other = await scene.newAgent()
  await other.put({ promptId })
  await agent.put({ model: 'm-2' })
  const published = await agent.publish(1, { note: 'Back.' })
  expect(published.json).toMatchObject({ number: 3, note: 'Back.', live: true })
  expect(await agent.get()).toMatchObject({ model: 'test-model', promptId, version: 3 })
  expect((await agent.publish(3)).json.number).toBe(3)
  await scene.ask('PUT', `/api/v1/prompts/${promptId}`, { content: 'Changed.' })
  expect((await agent.publish(1)).json.number).toBe(5)
  expect(await agent.get()).toMatchObject({ promptId: null, systemPrompt: 'You are v1.' })
  expect((await agent.publish(1)).json.number).toBe(5)
  expect((await other.get()).promptId).toBe(promptId)
  expect((await scene.ask('GET', `/api/v1/prompts/${promptId}`)).json.content).toBe('Changed.')
  for (const note of ['', 'x'.repeat(501), 1]) expect((await agent.publish(1, { note })).status).toBe(400)
})

verifies('contract-28.publish', 'tools that are gone are left out; a provider that is gone is 409', async () => {
  const agent = await scene.newAgent()
  const [gone, stays] = [
    await scene.made('/api/v1/http-tools', tool('gone')),
    await scene.made('/api/v1/http-tools', tool('stays')),
  ]
  await agent.putTools({ httpToolIds: [gone, stays], approvals: ['gone', 'stays', { httpToolId: gone }] })
  await scene.ask('DELETE', `/api/v1/http-tools/${gone}`)
  expect((await agent.publish(2)).status).toBe(200)
  expect(await agent.getTools()).toMatchObject({ httpToolIds: [stays], approvals: ['stays'] })
  const provider = { name: 'Leaves', providerType: 'openai', apiKey: 'k' }
  const providerId = await scene.made('/api/v1/settings/providers', provider)
  await agent.put({ fallbacks: [{ providerId, model: 'f' }] })
  const { version } = await agent.get()
  await agent.put({ fallbacks: [] })
  expect((await scene.ask('DELETE', `/api/v1/settings/providers/${providerId}`)).status).toBe(204)
  const refused = await agent.publish(version)
  expect(refused.status).toBe(409)
  expect(refused.json.message).toContain('"Leaves"')
  expect((await agent.get()).version).toBe(version + 1)
})

verifies('contract-28.kept', 'the newest 200 stay, and those that a pin, a reply or a replay names', async () => {
  const agent = await scene.newAgent()
  await scene.database.sql`
    with pinned as (insert into sessions (agent_id, agent_version) values (${agent.agentId}, 1) returning id)
    insert into messages (id, session_id, role, content, status, position, facts)
    select gen_random_uuid(), id, 'assistant', 'a', 'complete', 0, '{"agentVersion": 2}' from pinned`
  await scene.database.sql`
    insert into replays (agent_id, version, held, status, concurrency)
    values (${agent.agentId}, '4', '{}', 'complete', 1), (${agent.agentId}, 'draft', '{}', 'complete', 1)`
  for (let n = 0; n < 205; n += 1)
    await scene.database.sql`update agents set model = ${`k-${n}`} where id = ${agent.agentId}`
  const { json } = await scene.ask('GET', `${agent.path}/versions?limit=100&offset=200`)
  expect({ total: json.total, numbers: numbers(json.versions) }).toEqual({ total: 204, numbers: [6, 4, 2, 1] })
  expect((await agent.get()).version).toBe(206)
  expect((await scene.ask('DELETE', agent.path)).status).toBe(204)
  expect(await scene.database.sql`select 1 from agent_versions where agent_id = ${agent.agentId}`).toHaveLength(0)
})
