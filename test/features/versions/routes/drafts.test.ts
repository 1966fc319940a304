/** Contract section 28, the draft of an agent: what it holds, and who sees it. */
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openVersionScene, type VersionScene } from '../version-scene.ts'

let scene: VersionScene
beforeAll(async () => {
  scene = await openVersionScene()
})
afterAll(() => scene.close())

const draft = '?draft=true'

verifies(
  'contract-28.draft',
  'it changes nothing but itself, follows the live version, and is published whole',
  async () => {
    const agent = await scene.newAgent()
    const before = await agent.get()
    const put = await agent.put({ model: 'd-1', systemPrompt: 'Drafted.' }, draft)
    expect(put.json).toMatchObject({
      model: 'd-1',
      promptId: null,
      systemPrompt: 'Drafted.',
      hasDraft: true,
      version: 1,
    })
    expect(await agent.get()).toEqual({ ...before, hasDraft: true })
    await agent.putTools({ builtInToolIds: ['web_fetch'] }, draft)
    expect((await agent.getTools()).builtInToolIds).toEqual([])
    await agent.put({ callerInstructions: 'append' })
    const drafted = await agent.get(draft)
    expect(drafted).toMatchObject({ model: 'd-1', systemPrompt: 'Drafted.', callerInstructions: 'append' })
    expect(await (await scene.ask('GET', `${agent.path}${draft}`, undefined, {}, scene.there)).json).toEqual(drafted)
    const published = await agent.publishDraft({ note: 'Better.' })
    expect(published.json).toMatchObject({ number: 3, note: 'Better.', live: true })
    expect(await agent.get()).toMatchObject({
      ...{ model: 'd-1', systemPrompt: 'Drafted.', promptId: null, callerInstructions: 'append' },
      ...{ version: 3, hasDraft: false },
    })
    expect((await agent.getTools()).builtInToolIds).toEqual(['web_fetch'])
    expect((await agent.publishDraft()).status).toBe(409)
  },
)

verifies('contract-28.draft', 'a field that is set to the live value is no change; none is no draft', async () => {
  const agent = await scene.newAgent()
  const { model, promptId, generationConfig } = await agent.get()
  await agent.put({ model: 'd-1', systemPrompt: 'x', generationConfig: { temperature: 1 } }, draft)
  await agent.put({ model, generationConfig }, draft)
  expect((await agent.get()).hasDraft).toBe(true)
  await agent.put({ promptId }, draft)
  expect((await agent.get()).hasDraft).toBe(false)
  expect((await scene.ask('DELETE', `${agent.path}/draft`)).status).toBe(404)
  await agent.putTools({ approvals: '*' }, draft)
  expect((await scene.ask('DELETE', `${agent.path}/draft`)).status).toBe(204)
  expect(await agent.getTools(draft)).toEqual(await agent.getTools())
})

verifies('contract-28.draft', 'it refuses what a PUT refuses, and what belongs to no version', async () => {
  const agent = await scene.newAgent()
  const { name } = await agent.get()
  for (const body of [
    { name: 'Other' },
    { allowedOrigins: ['https://x.example'] },
    { userLimits: { requestsPerMinute: 1 } },
    { providerId: '11111111-1111-4111-8111-111111111111' },
    { promptId: '11111111-1111-4111-8111-111111111111' },
    { fallbacks: [{ providerId: '11111111-1111-4111-8111-111111111111', model: 'm' }] },
    { generationConfig: { temperature: 3 } },
    { mystery: 1 },
  ]) {
    const { status, json } = await agent.put(body, draft)
    expect([status, json.message]).toEqual([400, expect.stringContaining(Object.keys(body)[0] ?? '')])
  }
  expect((await agent.putTools({ httpToolIds: ['11111111-1111-4111-8111-111111111111'] }, draft)).status).toBe(400)
  expect(
    (await agent.putTools({ approvals: [{ httpToolId: '11111111-1111-4111-8111-111111111111' }] }, draft)).status,
  ).toBe(400)
  expect((await agent.put({ name, allowedOrigins: [], userLimits: null }, draft)).status).toBe(200)
  expect((await agent.get()).hasDraft).toBe(false)
})

verifies(
  'contract-28.draft-tags',
  'tags hold PUTs and publish to what was read; a mistyped parameter is 400',
  async () => {
    const agent = await scene.newAgent()
    const live = (await scene.ask('GET', agent.path)).headers.get('etag')
    const first = (await scene.ask('GET', `${agent.path}${draft}`)).headers.get('etag') ?? ''
    const put = await agent.put({ model: 'd-1' }, draft, { 'if-match': first })
    expect(put.status).toBe(200)
    expect((await scene.ask('GET', agent.path)).headers.get('etag')).toBe(live)
    expect((await agent.put({ model: 'd-2' }, draft, { 'if-match': first })).status).toBe(412)
    const second = put.headers.get('etag') ?? ''
    await agent.putTools({ builtInToolIds: ['web_fetch'] }, draft)
    expect((await agent.publishDraft({}, { 'if-match': second })).status).toBe(412)
    const third = (await scene.ask('GET', `${agent.path}${draft}`)).headers.get('etag') ?? ''
    expect((await agent.publishDraft({}, { 'if-match': third })).status).toBe(200)
    for (const query of ['?drafts=true', '?draft=1', '?draft=', '?draft=true&draft=true', '?Draft=true']) {
      expect([query, (await agent.put({ model: 'x' }, query)).status]).toEqual([query, 400])
      expect([query, (await agent.putTools({}, query)).status]).toEqual([query, 400])
      expect([query, (await scene.ask('GET', `${agent.path}${query}`)).status]).toEqual([query, 400])
      expect([query, (await scene.ask('GET', `${agent.path}/tools${query}`)).status]).toEqual([query, 400])
    }
    expect((await agent.get()).version).toBe(2)
    expect((await agent.put({ model: 'x' }, '?draft=false')).json.version).toBe(3)
  },
)

verifies('contract-28.draft', 'prompt and systemPrompt count as one field, whatever the live version has', async () => {
  const agent = await scene.newAgent()
  const { promptId } = await agent.get()
  await agent.put({ systemPrompt: 'Live.' })
  await agent.put({ systemPrompt: 'Drafted.' }, draft)
  await agent.put({ promptId })
  expect(await agent.get(draft)).toMatchObject({ promptId: null, systemPrompt: 'Drafted.' })
})

verifies(
  'contract-28.draft-in-use',
  'its provider and prompt stay; its tools leave it with their deletion',
  async () => {
    const agent = await scene.newAgent()
    const providerId = await scene.made('/api/v1/settings/providers', {
      name: 'D',
      providerType: 'openai',
      apiKey: 'k',
    })
    const promptId = await scene.made('/api/v1/prompts', { name: 'D', content: 'd' })
    const toolId = await scene.made('/api/v1/http-tools', {
      name: 't',
      description: 'd',
      method: 'GET',
      url: 'https://x.example/',
    })
    await agent.put({ fallbacks: [{ providerId, model: 'm' }], promptId }, draft)
    await agent.putTools({ httpToolIds: [toolId] }, draft)
    for (const path of [`/api/v1/settings/providers/${providerId}`, `/api/v1/prompts/${promptId}`]) {
      const { status, json } = await scene.ask('DELETE', path)
      expect([status, json.message]).toEqual([409, expect.stringContaining('used by')])
    }
    await scene.ask('PUT', agent.path, { model: 'live' })
    expect((await agent.get(draft)).promptId).toBe(promptId)
    expect((await scene.ask('DELETE', `/api/v1/http-tools/${toolId}`)).status).toBe(204)
    expect((await agent.getTools(draft)).httpToolIds).toEqual([])
    await agent.put({ fallbacks: [], promptId: (await agent.get()).promptId }, draft)
    expect((await agent.get()).hasDraft).toBe(false)
    expect((await scene.ask('DELETE', `/api/v1/prompts/${promptId}`)).status).toBe(204)
  },
)

verifies('contract-28.audit', 'publishing and the draft have entries', async () => {
  const agent = await scene.newAgent()
  await agent.put({ systemPrompt: 'New.' }, draft)
  await agent.publishDraft()
  await agent.publish(1)
  await agent.put({ model: 'd' }, draft)
  await scene.ask('DELETE', `${agent.path}/draft`)
  const { json } = await scene.ask('GET', `/api/v1/audit?q=${agent.agentId}`)
  const told = json.entries.map(({ action, kind, changes }: Record<string, unknown>) => [
    action,
    kind,
    Object.keys(changes ?? {}).toSorted(),
  ])
  expect(told.slice(0, 5)).toEqual([
    ['delete', 'agentDraft', expect.arrayContaining(['model'])],
    ['update', 'agentDraft', ['model']],
    ['publish', 'agent', ['promptId', 'systemPrompt', 'version']],
    ['publish', 'agent', ['promptId', 'systemPrompt', 'version']],
    ['update', 'agentDraft', ['promptId', 'systemPrompt']],
  ])
  expect(json.entries[2].changes).toMatchObject({
    systemPrompt: { from: 'New.', to: 'You are v1.' },
    version: { from: 2, to: 3 },
  })
})

verifies(
  'contract-28.draft',
  'a provider that does not take its format refuses it, when it is saved and published',
  async () => {
    const agent = await scene.newAgent()
    const providerId = await scene.made('/api/v1/settings/providers', { name: 'For drafts', providerType: 'demo' })
    const format = { responseFormat: { type: 'json_object' } }
    const saved = await agent.put({ ...format, providerId }, draft)
    expect([saved.status, saved.json.message]).toEqual([400, expect.stringContaining('responseFormat')])
    expect((await agent.put(format, draft)).status).toBe(200)
    await agent.put({ providerId })
    const published = await agent.publishDraft()
    expect([published.status, published.json.message]).toEqual([400, expect.stringContaining('responseFormat')])
    expect(await agent.get()).toMatchObject({ providerId, responseFormat: null, version: 2, hasDraft: true })
  },
)

verifies('contract-28.draft', 'its own prompt stays its own when the live version takes a stored one', async () => {
  const agent = await scene.newAgent()
  await agent.put({ systemPrompt: 'Drafted.' }, draft)
  const promptId = await scene.made('/api/v1/prompts', { name: 'Stored for a draft', content: 'Stored.' })
  await agent.put({ promptId })
  expect(await agent.get(draft)).toMatchObject({ promptId: null, systemPrompt: 'Drafted.' })
  await agent.publishDraft()
  expect(await agent.get()).toMatchObject({ promptId: null, systemPrompt: 'Drafted.' })
})
