/** Contract section 2, agents; specification 2.3 and 4.6. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgentLookup } from '../../../../src/persistence/records/agent-lookup.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'
import { type Server, startServer } from '../server.ts'

const nobody = '11111111-1111-4111-8111-111111111111'
let db: FreshDatabase
let server: Server
let deleted: string[] = []
let providerId = ''
let promptId = ''

beforeAll(async () => {
  db = await freshDatabase()
  server = await startServer({
    sql: db.sql,
    onAgentDelete: async (id) => {
      deleted.push(id)
      return (await db.sql`delete from agents where id = ${id}`).count > 0
    },
  })
  const provider = { name: 'P', providerType: 'openai', apiKey: 'sk-0123456789', baseUrl: 'https://a.com/v1' }
  providerId = (await server.call('POST', '/api/v1/settings/providers', provider)).json.id
  promptId = (await server.call('POST', '/api/v1/prompts', { name: 'S', content: 'Be brief.' })).json.id
})
afterAll(async () => {
  await server.close()
  await db.drop()
})

const create = (fields: object = {}) =>
  server.call('POST', '/api/v1/agents', { name: 'Agent', providerId, model: 'm-1', ...fields })
const update = (id: string, body: object) => server.call('PUT', `/api/v1/agents/${id}`, body)

verifies(
  ['spec-2.3.agent', 'spec-4.6.agents'],
  'create returns 201 with the record; prompt and settings may be absent',
  async () => {
    const { status, json } = await create()
    expect(status).toBe(201)
    expect(json).toEqual({
      id: expect.any(String),
      name: 'Agent',
      providerId,
      model: 'm-1',
      promptId: null,
      systemPrompt: null,
      generationConfig: {},
      responseFormat: null,
      fallbacks: [],
      allowedOrigins: [],
      historyMaxTokens: null,
      callerInstructions: 'responses',
      userLimits: null,
      compaction: 'none',
      onLoss: 'error',
      onMissingTools: 'tell',
      allowSharing: false,
      version: 1,
      hasDraft: false,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await server.call('GET', `/api/v1/agents/${json.id}`)).json).toEqual(json)
  },
)

verifies('spec-2.3.agent', 'settings are returned as sent, zero included; null means absent', async () => {
  const generationConfig = { temperature: 0, topP: 0.25, topK: 40, maxToolCalls: 0 }
  expect((await create({ promptId, generationConfig })).json).toMatchObject({ promptId, generationConfig })
  const sparse = await create({ promptId: null, generationConfig: { temperature: null, topK: 1 } })
  expect(sparse.json).toMatchObject({ promptId: null, generationConfig: { topK: 1 } })
  expect(Object.keys(sparse.json.generationConfig)).toEqual(['topK'])
})

test.each([
  [{ temperature: 2.01 }, 'temperature'],
  [{ temperature: -0.1 }, 'temperature'],
  [{ topP: 1.1 }, 'topP'],
  [{ topK: 0 }, 'topK'],
  [{ topK: 1.5 }, 'topK'],
  [{ maxToolCalls: 101 }, 'maxToolCalls'],
  [{ maxToolCalls: -1 }, 'maxToolCalls'],
  [{ temperature: '1' }, 'temperature'],
  ['hot', 'generationConfig'],
])('generationConfig %j is 400 naming %s', async (generationConfig, field) => {
  const { status, json } = await create({ generationConfig })
  expect(status).toBe(400)
  expect(json.message).toContain(field)
})

test.each([
  [{ name: undefined }, 'name'],
  [{ providerId: undefined }, 'providerId'],
  [{ model: undefined }, 'model'],
  [{ model: '' }, 'model'],
  [{ providerId: nobody }, 'providerId'],
  [{ providerId: 'malformed' }, 'providerId'],
  [{ providerId: null }, 'providerId'],
  [{ promptId: nobody }, 'promptId'],
  [{ promptId: 'malformed' }, 'promptId'],
  [{ promptId: '' }, 'promptId'],
])('create with %j is 400 naming %s', async (fields, field) => {
  const { status, json } = await create(fields)
  expect(status).toBe(400)
  expect(json).toEqual({ message: expect.stringMatching(new RegExp(`^${field}: `)) })
})

verifies(
  'spec-4.6.agents',
  'PUT keeps absent fields, clears promptId by null and replaces generationConfig as a whole',
  async () => {
    const { id } = (await create({ promptId, generationConfig: { temperature: 1, topK: 5 } })).json
    expect((await update(id, { name: 'B' })).json).toMatchObject({
      name: 'B',
      promptId,
      model: 'm-1',
      generationConfig: { temperature: 1, topK: 5 },
    })
    const replaced = await update(id, { generationConfig: { topP: 0.5 } })
    expect(replaced.json.generationConfig).toEqual({ topP: 0.5 })
    expect((await update(id, { promptId: null, model: 'm-2' })).json).toMatchObject({ promptId: null, model: 'm-2' })
    expect((await update(id, { promptId })).json).toMatchObject({ promptId, generationConfig: { topP: 0.5 } })
    expect((await update(id, { generationConfig: null })).json.generationConfig).toEqual({})
  },
)

test.each([
  { name: null },
  { model: null },
  { providerId: null },
  { providerId: nobody },
  { providerId: 'malformed' },
  { promptId: nobody },
  { promptId: 'malformed' },
])('PUT with %j is 400 and changes nothing', async (body) => {
  const before = (await create({ promptId })).json
  const { status, json } = await update(before.id, { model: 'changed', ...body })
  expect(status).toBe(400)
  expect(json.message).toContain(Object.keys(body)[0])
  expect((await server.call('GET', `/api/v1/agents/${before.id}`)).json).toEqual(before)
})

test('concurrent PUTs lose no field', async () => {
  const { id } = (await create()).json
  for (let round = 1; round <= 10; round++) {
    await Promise.all([
      update(id, { name: `n${round}` }),
      update(id, { promptId: round % 2 ? promptId : null }),
      update(id, { generationConfig: { topK: round } }),
    ])
    expect((await server.call('GET', `/api/v1/agents/${id}`)).json).toMatchObject({
      name: `n${round}`,
      promptId: round % 2 ? promptId : null,
      generationConfig: { topK: round },
    })
  }
})

verifies('spec-4.6.agents', 'DELETE passes the agent on to have its replies ended; 204, else 404', async () => {
  deleted = []
  const { id } = (await create()).json
  expect((await server.call('DELETE', `/api/v1/agents/${id}`)).status).toBe(204)
  expect((await server.call('DELETE', `/api/v1/agents/${id}`)).status).toBe(404)
  expect((await server.call('DELETE', '/api/v1/agents/malformed')).status).toBe(404)
  expect(deleted).toEqual([id, id])
})

test('GET and PUT of an unknown id are 404', async () => {
  for (const id of [nobody, 'x']) {
    expect((await server.call('GET', `/api/v1/agents/${id}`)).status).toBe(404)
    expect((await update(id, { name: 'x' })).status).toBe(404)
  }
})

verifies('spec-4.6.agents', 'the list is oldest first, with q and totals', async () => {
  const first = (await create({ name: 'Needle' })).json
  const second = (await create({ name: 'my needle' })).json
  const { json } = await server.call('GET', '/api/v1/agents?q=NEEDLE')
  expect(json).toEqual({ agents: [first, second], total: 2, limit: 20, offset: 0 })
})

test('a completion reads agent, prompt and encrypted key in one query', async () => {
  const { id } = (await create({ promptId, generationConfig: { topK: 3 } })).json
  expect(await createAgentLookup(db.sql, { alone: false }).find(id)).toEqual({
    id,
    name: 'Agent',
    version: 1,
    responseFormat: null,
    fallbacks: [],
    model: 'm-1',
    generationConfig: { topK: 3 },
    system: 'Be brief.',
    prompt: { id: promptId, name: 'S', sha256: createHash('sha256').update('Be brief.').digest('hex') },
    provider: {
      id: providerId,
      type: 'openai',
      baseUrl: 'https://a.com/v1',
      apiKey: Buffer.from(`provider:${providerId}\nsk-0123456789`).toString('base64'),
      wireApi: 'chat_completions',
    },
    tools: {
      httpToolIds: [],
      mcpServers: [],
      builtInToolIds: [],
      agentTools: [],
      approvals: [],
      approvalsExpireAfterS: null,
      named: {},
    },
    allowedOrigins: [],
    historyMaxTokens: null,
    callerInstructions: 'responses',
    userLimits: null,
    compaction: 'none',
    onLoss: 'error',
    onMissingTools: 'tell',
    configuration: expect.any(Number),
  })
  const promptless = (await create()).json
  expect(await createAgentLookup(db.sql, { alone: false }).find(promptless.id)).toMatchObject({ system: null })
  expect(await createAgentLookup(db.sql, { alone: false }).find(nobody)).toBeNull()
  expect(await createAgentLookup(db.sql, { alone: false }).find('x')).toBeNull()
})

verifies('contract-19.budget', 'historyMaxTokens is 1,000 or more, or null', async () => {
  const { json } = await create({ historyMaxTokens: 5000 })
  expect(json).toMatchObject({ historyMaxTokens: 5000 })
  expect((await update(json.id, { name: 'Kept' })).json).toMatchObject({ historyMaxTokens: 5000 })
  expect((await update(json.id, { historyMaxTokens: null })).json).toMatchObject({ historyMaxTokens: null })
  for (const historyMaxTokens of [999, 0, 1000.5, 'many']) {
    const refused = await create({ historyMaxTokens })
    expect([refused.status, refused.json.message]).toEqual([400, expect.stringContaining('historyMaxTokens')])
  }
})

verifies(
  'contract-19.agent-fields',
  'reasoningEffort and maxOutputTokens are kept, and refused where the type takes none',
  async () => {
    const generationConfig = { reasoningEffort: 'low', maxOutputTokens: 500 }
    const { json } = await create({ generationConfig })
    expect(json).toMatchObject({ generationConfig })
    for (const wrong of [{ reasoningEffort: 'huge' }, { maxOutputTokens: 0 }]) {
      expect((await create({ generationConfig: wrong })).status).toBe(400)
    }
    const provider = { name: 'Mistral', providerType: 'mistral', apiKey: 'sk-0123456789' }
    const mistral = (await server.call('POST', '/api/v1/settings/providers', provider)).json.id
    const refused = await create({ providerId: mistral, generationConfig })
    expect([refused.status, refused.json.message]).toEqual([
      400,
      expect.stringMatching(/^generationConfig\.reasoningEffort: .*Mistral/),
    ])
    expect((await update(json.id, { providerId: mistral })).status).toBe(400)
  },
)

verifies('contract-19.agent-fields', "a maxOutputTokens below the API's least is refused on creation", async () => {
  const provider = { name: 'OpenAI', providerType: 'openai', apiKey: 'sk-0123456789' }
  const providerId = (await server.call('POST', '/api/v1/settings/providers', provider)).json.id
  const refused = await create({ providerId, generationConfig: { maxOutputTokens: 15 } })
  expect([refused.status, refused.json.message]).toEqual([
    400,
    expect.stringMatching(/^generationConfig\.maxOutputTokens: .*16 or more/),
  ])
  const { json } = await create({ providerId, generationConfig: { maxOutputTokens: 16 } })
  expect((await update(json.id, { generationConfig: { maxOutputTokens: 1 } })).status).toBe(400)
})
