/** Contract section 13: an agent's fallbacks and response format as records. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openScene } from '../../scene.ts'

const server = await openScene({ settings: {} })
afterAll(server.close)

const provider = async (name: string): Promise<string> =>
  (await server.call('POST', '/api/v1/settings/providers', { name, providerType: 'demo' })).json.id
const [first, second] = [await provider('First'), await provider('Second')]

const create = (fields: object = {}) =>
  server.call('POST', '/api/v1/agents', { name: 'Agent', providerId: first, model: 'm', ...fields })
const update = (id: string, fields: object) => server.call('PUT', `/api/v1/agents/${id}`, fields)

verifies('contract-13.fallback-records', 'they are kept in order, absent they stay, null and [] clear', async () => {
  const fallbacks = [
    { providerId: second, model: 'b' },
    { providerId: first, model: 'c' },
    { providerId: second, model: 'a' },
  ]
  const { status, json } = await create({ fallbacks })
  expect([status, json.fallbacks]).toEqual([201, fallbacks])
  expect((await update(json.id, { name: 'Other' })).json.fallbacks).toEqual(fallbacks)
  expect((await server.call('GET', '/api/v1/agents?q=Other')).json.agents[0].fallbacks).toEqual(fallbacks)
  const reversed = fallbacks.toReversed()
  expect((await update(json.id, { fallbacks: reversed })).json.fallbacks).toEqual(reversed)
  expect((await server.call('GET', `/api/v1/agents/${json.id}`)).json.fallbacks).toEqual(reversed)
  expect((await update(json.id, { fallbacks: null })).json.fallbacks).toEqual([])
  await update(json.id, { fallbacks })
  expect((await update(json.id, { fallbacks: [] })).json.fallbacks).toEqual([])
  expect((await create({ fallbacks: null })).json.fallbacks).toEqual([])
})

verifies('contract-13.fallback-records', 'more than three, unknown providers and other shapes are 400', async () => {
  const { id } = (await create()).json
  const one = { providerId: second, model: 'b' }
  const nobody = '11111111-1111-4111-8111-111111111111'
  for (const fallbacks of [
    [one, one, one, one],
    [{ providerId: nobody, model: 'b' }],
    [one, { providerId: 'x', model: 'b' }],
    [{ providerId: second }],
    [{ model: 'b' }],
    [{ providerId: second, model: '' }],
    [{ providerId: second, model: 'x'.repeat(201) }],
    [second],
    one,
    'x',
  ]) {
    for (const answer of [await update(id, { name: 'Changed', fallbacks }), await create({ fallbacks })]) {
      expect([fallbacks, answer.status]).toEqual([fallbacks, 400])
      expect(answer.json.message).toMatch(/^fallbacks/)
    }
  }
  expect((await server.call('GET', `/api/v1/agents/${id}`)).json).toMatchObject({ name: 'Agent', fallbacks: [] })
})

verifies('contract-13.fallback-records', 'a provider that is a fallback is in use: 409 naming the agent', async () => {
  const { json } = await server.call('POST', '/api/v1/settings/providers', { name: 'Third', providerType: 'demo' })
  const agent = (await create({ name: 'Careful', fallbacks: [{ providerId: json.id, model: 'm' }] })).json
  const refused = await server.call('DELETE', `/api/v1/settings/providers/${json.id}`)
  expect([refused.status, refused.json.message]).toEqual([409, expect.stringContaining('"Careful"')])
  await update(agent.id, { fallbacks: null })
  expect((await server.call('DELETE', `/api/v1/settings/providers/${json.id}`)).status).toBe(204)
})

verifies('contract-13.structured', 'a response format that the agent’s provider does not take is 400', async () => {
  const responseFormat = { type: 'json_object' }
  const refused = await create({ responseFormat })
  expect([refused.status, refused.json.message]).toEqual([400, expect.stringMatching(/^responseFormat: .*demo/)])
  const { id } = (await create({ providerId: server.providerId, responseFormat })).json
  expect((await update(id, { providerId: first })).json.message).toMatch(/^responseFormat: /)
  expect((await server.call('GET', `/api/v1/agents/${id}`)).json).toMatchObject({ providerId: server.providerId })
  const agents = [{ name: 'Imported', provider: 'First', model: 'm', responseFormat }]
  const { json } = await server.call('POST', '/api/v1/import', { version: 1, agents })
  expect(json).toMatchObject({ created: 0, skipped: [{ reason: expect.stringMatching(/^responseFormat: /) }] })
})

verifies(
  'contract-13.fallback-records',
  'export and import carry them by name, and the response format whole',
  async () => {
    const responseFormat = {
      type: 'json_schema',
      json_schema: { name: 'x', strict: true, schema: { type: 'object', properties: { b: {}, a: {} } } },
    }
    const { id } = (
      await create({
        name: 'Carried',
        providerId: server.providerId,
        responseFormat,
        fallbacks: [{ providerId: second, model: 'b' }],
      })
    ).json
    const { json } = await server.call('GET', '/api/v1/export')
    const carried = json.agents.find(({ name }: { name: string }) => name === 'Carried')
    expect(carried).toMatchObject({ responseFormat, fallbacks: [{ provider: 'Second', model: 'b' }] })
    expect(Object.keys(carried.responseFormat.json_schema.schema.properties)).toEqual(['b', 'a'])
    const take = (agent: object) =>
      server.call('POST', '/api/v1/import', { version: 1, agents: [{ ...carried, ...agent }] })
    expect((await take({})).json).toEqual({ created: 0, updated: 0, skipped: [] })
    await update(id, { fallbacks: null, responseFormat: null })
    expect((await take({})).json).toMatchObject({ updated: 1 })
    expect((await server.call('GET', `/api/v1/agents/${id}`)).json).toMatchObject({
      responseFormat,
      fallbacks: [{ providerId: second, model: 'b' }],
    })
    expect((await take({ name: 'New' })).json).toMatchObject({ created: 1 })
    const { fallbacks: _, responseFormat: __, ...plain } = carried
    const old = await server.call('POST', '/api/v1/import', { version: 1, agents: [plain] })
    expect(old.json).toEqual({ created: 0, updated: 0, skipped: [] })
    expect((await take({ fallbacks: null })).json).toMatchObject({ updated: 1 })
    expect((await server.call('GET', `/api/v1/agents/${id}`)).json.fallbacks).toEqual([])
    const unknown = await take({ fallbacks: [{ provider: 'Nobody', model: 'm' }] })
    expect(unknown.json.skipped).toMatchObject([
      { kind: 'agent', name: 'Carried', reason: expect.stringContaining('Nobody') },
    ])
  },
)
