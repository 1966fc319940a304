/** Contract section 2, providers and provider types; specification 4.3 and 4.4. */
import { describe, expect, test } from 'vitest'
import type { ConnectionTest } from '../../../../src/http/management/records/providers.ts'
import { verifies } from '../../../verifies.ts'
import { key, openProviderScene, path } from './provider-scene.ts'

const nobody = '11111111-1111-4111-8111-111111111111'
let tested: unknown[] = []
let answer: () => Promise<ConnectionTest>
const { database, call, create, created, update, storedKey } = openProviderScene({
  testProvider: (connection, { timeoutMs }) => {
    tested.push({ ...connection, timeoutMs })
    return answer()
  },
})

verifies('spec-4.3.provider-types', 'the provider types are those of the contract, with their metadata', async () => {
  const { status, json } = await call('GET', '/api/v1/provider-types')
  expect(status).toBe(200)
  expect(json.providerTypes.map(({ id }: { id: string }) => id)).toEqual([
    'openai',
    'anthropic',
    'gemini',
    'mistral',
    'openrouter',
    'groq',
    'deepseek',
    'xai',
    'ollama',
    'openai-compatible',
    'demo',
  ])
  for (const type of json.providerTypes) {
    expect(Object.keys(type).sort()).toEqual(
      ['defaultBaseUrl', 'description', 'id', 'name', 'requiresApiKey', 'requiresBaseUrl'].sort(),
    )
  }
})

describe('the key', () => {
  test('one that no call could be made with is refused, blanks around it are not', async () => {
    for (const apiKey of ['sk-1234 5678', 'sk-1234\n5678', 'sk–1234']) {
      const { status, json } = await create({ name: 'Typo', providerType: 'openai', apiKey })
      expect(status).toBe(400)
      expect(json.message).toMatch(/^apiKey: must have no spaces/)
    }
    expect((await create({ name: 'Pasted', providerType: 'openai', apiKey: ' sk-12345678 ' })).status).toBe(201)
  })

  verifies(
    ['spec-2.1.provider', 'spec-4.4.providers'],
    'is encrypted for its provider and never returned',
    async () => {
      const { status, json, text } = await create({ name: 'Sealed' })
      expect(status).toBe(201)
      expect(json).toEqual({
        id: expect.any(String),
        name: 'Sealed',
        providerType: 'openai',
        baseUrl: null,
        wireApi: 'responses',
        hasApiKey: true,
        apiKeyHint: 'wxyz',
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      })
      const [row] = await database().sql`select api_key from providers where id = ${json.id}`
      expect(row?.api_key).not.toContain(key)
      expect(await storedKey(json.id)).toBe(key)
      const read = await call('GET', `${path}/${json.id}`)
      expect(read.json).toEqual(json)
      const listed = await call('GET', path)
      const changed = await update(json.id, { name: 'Sealed still' })
      for (const seen of [text, read.text, listed.text, changed.text]) {
        expect(seen).not.toContain('sk-live')
        expect(seen).not.toContain('"apiKey"')
      }
    },
  )

  test('has no hint when it is shorter than 12', async () => {
    expect(await created({ apiKey: '12345678901' })).toMatchObject({ hasApiKey: true, apiKeyHint: null })
    expect(await created({ apiKey: '123456789012' })).toMatchObject({ apiKeyHint: '9012' })
  })

  test.each(['', '   ', 'sk\nx', 'sk-\u007f', 'schlüssel-€', 'tab\tbed'])('%j is 400', async (apiKey) => {
    const { status, json } = await create({ apiKey })
    expect(status).toBe(400)
    expect(json.message).toMatch(/^apiKey: /)
    const { id } = await created()
    expect((await update(id, { apiKey })).status).toBe(400)
    expect(await storedKey(id)).toBe(key)
  })

  test('is required where the type needs one', async () => {
    for (const apiKey of [undefined, null]) {
      const { status, json } = await create({ apiKey })
      expect(status).toBe(400)
      expect(json.message).toContain('apiKey')
    }
    const demo = await created({ providerType: 'demo', apiKey: undefined })
    expect(demo).toMatchObject({ hasApiKey: false, apiKeyHint: null })
  })

  test('is kept when absent in a PUT, replaced when present', async () => {
    const { id } = await created()
    expect((await update(id, { name: `Renamed ${id}` })).json).toMatchObject({ hasApiKey: true, apiKeyHint: 'wxyz' })
    expect(await storedKey(id)).toBe(key)
    expect((await update(id, { apiKey: 'another-key-1234' })).json).toMatchObject({ apiKeyHint: '1234' })
    expect(await storedKey(id)).toBe('another-key-1234')
  })

  test('null clears it if the type needs none, else 400', async () => {
    const needed = await created()
    expect((await update(needed.id, { apiKey: null })).status).toBe(400)
    expect(await storedKey(needed.id)).toBe(key)
    const optional = await created({ providerType: 'ollama' })
    expect((await update(optional.id, { apiKey: null })).json).toMatchObject({ hasApiKey: false, apiKeyHint: null })
    expect(await storedKey(optional.id)).toBeNull()
  })
})

describe('wireApi', () => {
  verifies('contract-19.wire-api', 'is responses for OpenAI at its own address, else chat completions', async () => {
    const baseUrl = 'https://proxy.example.com/v1'
    expect(await created({ providerType: 'openai' })).toMatchObject({ wireApi: 'responses' })
    const proxied = await created({ providerType: 'openai', baseUrl })
    expect(proxied).toMatchObject({ wireApi: 'chat_completions' })
    expect(await created({ providerType: 'openai-compatible', baseUrl })).toMatchObject({ wireApi: 'chat_completions' })
    expect(await created({ providerType: 'anthropic' })).toMatchObject({ wireApi: null })
    const chosen = await created({ providerType: 'openai-compatible', baseUrl, wireApi: 'responses' })
    expect(chosen).toMatchObject({ wireApi: 'responses' })
  })

  verifies('contract-19.wire-api', 'stays when baseUrl changes, and changes by a PUT of its own', async () => {
    const { id } = await created({ providerType: 'openai' })
    const moved = await update(id, { baseUrl: 'https://proxy.example.com/v1', apiKey: key })
    expect(moved.json).toMatchObject({ wireApi: 'responses' })
    expect((await update(id, { wireApi: 'chat_completions' })).json).toMatchObject({ wireApi: 'chat_completions' })
    // As an older version writes it, and as all were written before.
    await database().sql`update providers set wire_api = null where id = ${id}`
    expect((await call('GET', `${path}/${id}`)).json).toMatchObject({ wireApi: 'chat_completions' })
  })

  verifies('contract-19.wire-api', 'a PUT with null brings the default back', async () => {
    const { id } = await created({ providerType: 'openai', wireApi: 'chat_completions' })
    expect((await update(id, { wireApi: null })).json).toMatchObject({ wireApi: 'responses' })
    const moved = await update(id, { wireApi: null, baseUrl: 'https://proxy.example.com/v1', apiKey: key })
    expect(moved.json).toMatchObject({ wireApi: 'chat_completions' })
    await update(id, { wireApi: 'responses' })
    expect((await update(id, { wireApi: null })).json).toMatchObject({ wireApi: 'chat_completions' })
  })

  verifies('contract-19.wire-api', 'is 400 for types that have one API, and for other words', async () => {
    for (const providerType of ['anthropic', 'groq', 'demo']) {
      const { status, json } = await create({ providerType, wireApi: 'responses' })
      expect([status, json.message]).toEqual([400, expect.stringMatching(/^wireApi: /)])
    }
    const { id } = await created({ providerType: 'mistral' })
    expect((await update(id, { wireApi: 'chat_completions' })).status).toBe(400)
    expect((await update(id, { wireApi: null, name: 'Sent back as read' })).status).toBe(200)
    expect((await create({ wireApi: 'assistants' })).status).toBe(400)
  })
})

test('an unknown providerType is 400', async () => {
  for (const providerType of ['nonsense', '', null, 5, undefined]) {
    const { status, json } = await create({ providerType })
    expect(status).toBe(400)
    expect(json.message).toContain('providerType')
  }
})

verifies('spec-4.4.providers', 'providerType in a PUT is ignored when equal, 400 when different', async () => {
  const { id } = await created()
  expect((await update(id, { providerType: 'openai' })).status).toBe(200)
  for (const providerType of ['mistral', 'nonsense', null]) {
    const { status, json } = await update(id, { providerType, name: 'never' })
    expect(status).toBe(400)
    expect(json.message).toContain('providerType')
  }
})

verifies(
  ['spec-4.4.providers', 'spec-7.2.management-errors'],
  'a taken name is 409 naming it, on create and on PUT, however many at once',
  async () => {
    const { id } = await created({ name: 'Taken' })
    const again = await create({ name: 'Taken' })
    expect(again.status).toBe(409)
    expect(again.json).toEqual({ message: expect.stringContaining('Taken') })
    const other = await created()
    expect((await update(other.id, { name: 'Taken' })).status).toBe(409)
    expect((await update(id, { name: 'Taken' })).status).toBe(200)
    const race = await Promise.all(Array.from({ length: 5 }, () => create({ name: 'Raced' })))
    expect(race.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  },
)

test.each(['GET', 'PUT', 'DELETE', 'TEST'])('%s of an unknown or malformed id is 404', async (method) => {
  for (const id of [nobody, 'x']) {
    const { status, json } = await (method === 'TEST'
      ? call('POST', `${path}/${id}/test`)
      : call(method, `${path}/${id}`, method === 'PUT' ? { name: 'x' } : undefined))
    expect(status).toBe(404)
    expect(json).toEqual({ message: expect.any(String) })
  }
})

verifies('spec-4.4.providers', 'DELETE returns 204; 409 naming the agents while any uses it', async () => {
  const { id } = await created()
  await database().sql`insert into agents (name, provider_id, model) values ('Ann', ${id}, 'm'), ('Bob', ${id}, 'm')`
  const refused = await call('DELETE', `${path}/${id}`)
  expect(refused.status).toBe(409)
  expect(refused.json.message).toMatch(/"Ann", "Bob"\.$/)
  await database().sql`delete from agents where provider_id = ${id}`
  expect((await call('DELETE', `${path}/${id}`)).status).toBe(204)
  expect((await call('GET', `${path}/${id}`)).status).toBe(404)
})

test('DELETE during the creation of an agent is 204 or 409, the agent 201 or 400, never 500', async () => {
  for (let round = 0; round < 15; round++) {
    const { id } = await created()
    const [removed, made] = await Promise.all([
      call('DELETE', `${path}/${id}`),
      call('POST', '/api/v1/agents', { name: 'late', providerId: id, model: 'm' }),
    ])
    expect([
      [204, 400],
      [409, 201],
    ]).toContainEqual([removed.status, made.status])
  }
})

test('lists are oldest first, with q, and hold the same records as reads', async () => {
  const first = await created({ name: 'Needle one' })
  const second = await created({ name: 'second NEEDLE' })
  const { json } = await call('GET', `${path}?q=needle&limit=1000`)
  expect(json).toEqual({ providers: [first, second], total: 2, limit: 100, offset: 0 })
})

describe('test', () => {
  verifies(
    ['spec-4.4.providers', 'contract-2.provider-test'],
    'passes the decrypted key and returns 200 with the result',
    async () => {
      tested = []
      answer = async () => ({ ok: true, latencyMs: 12, message: '2 models', models: ['a', 'b'] })
      const { id } = await created({ baseUrl: 'https://a.com/v1' })
      const { status, json } = await call('POST', `${path}/${id}/test`)
      expect([status, json]).toEqual([200, { ok: true, latencyMs: 12, message: '2 models', models: ['a', 'b'] }])
      const connection = { id, type: 'openai', baseUrl: 'https://a.com/v1', apiKey: key, wireApi: 'chat_completions' }
      expect(tested).toEqual([{ ...connection, timeoutMs: 10_000 }])
    },
  )

  test('is 200 even when the provider fails or its key cannot be decrypted', async () => {
    answer = async () => ({ ok: false, latencyMs: 3, message: '401', models: [] })
    const { id } = await created()
    expect((await call('POST', `${path}/${id}/test`)).json).toMatchObject({ ok: false, message: '401' })
    answer = () => Promise.reject(new Error('a fault, with sk-live inside'))
    const fault = await call('POST', `${path}/${id}/test`)
    expect(fault.status).toBe(200)
    expect(fault.text).not.toContain('sk-live')
    await database().sql`update providers set api_key = 'broken' where id = ${id}`
    const broken = await call('POST', `${path}/${id}/test`)
    expect([broken.status, broken.json.ok, broken.json.models]).toEqual([200, false, []])
    expect(Number.isInteger(broken.json.latencyMs)).toBe(true)
  })
})
