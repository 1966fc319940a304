/** The rules of a provider's `baseUrl`, to which its key is sent (contract section 2). */
import { expect, test } from 'vitest'
import { key, openProviderScene, path } from './provider-scene.ts'

const { database, call, create, created, update, storedKey } = openProviderScene()

test.each([
  ...['', 'example.com', 'ftp://example.com', 'http:example.com', 'https://', 'https://a b.com', ' https://a.com'],
  ...['https://user:secret@a.com', 'https://user@a.com', 'https://a.com/#part', 'https://a.com\\b', 'javascript:x'],
])('a baseUrl %j is 400 on create and on PUT', async (baseUrl) => {
  const { status, json } = await create({ baseUrl })
  expect(status).toBe(400)
  expect(json.message).toMatch(/^baseUrl: /)
  const { id } = await created({ baseUrl: 'https://a.com/v1' })
  expect((await update(id, { baseUrl, apiKey: key })).status).toBe(400)
  expect((await call('GET', `${path}/${id}`)).json.baseUrl).toBe('https://a.com/v1')
})

test('baseUrl is required for openai-compatible', async () => {
  for (const baseUrl of [undefined, null]) {
    const { status, json } = await create({ providerType: 'openai-compatible', baseUrl })
    expect(status).toBe(400)
    expect(json.message).toContain('baseUrl')
  }
  const made = await created({ providerType: 'openai-compatible', baseUrl: 'http://127.0.0.1:8000/v1', apiKey: null })
  expect(made).toMatchObject({ baseUrl: 'http://127.0.0.1:8000/v1', hasApiKey: false })
  expect((await update(made.id, { baseUrl: null })).status).toBe(400)
})

test.each([
  ['https://a.com/v1', 'https://b.com/v1'],
  ['https://a.com/v1', 'http://a.com/v1'],
  ['https://a.com/v1', 'https://a.com:8443/v1'],
  ['https://a.com/v1', null],
  [null, 'https://evil.example/v1'],
])('a move from %j to %j needs the key anew, else 400 and nothing changes', async (from, to) => {
  const { id } = await created({ baseUrl: from })
  const refused = await update(id, { baseUrl: to, name: `Moved ${id}` })
  expect(refused.status).toBe(400)
  expect(refused.json.message).toContain('apiKey')
  expect((await call('GET', `${path}/${id}`)).json).toMatchObject({ baseUrl: from, hasApiKey: true })
  expect((await call('GET', `${path}/${id}`)).json.name).not.toContain('Moved')
  expect((await update(id, { baseUrl: to, apiKey: 'fresh-key-5678' })).json).toMatchObject({ baseUrl: to })
})

test.each([
  ['https://a.com/v1', 'https://a.com/v2'],
  ['https://a.com/v1', 'https://A.com:443/v1'],
  [null, 'https://api.openai.com/v2'],
  ['https://api.openai.com/v2', null],
])('a move from %j to %j is the same origin and keeps the key', async (from, to) => {
  const { id } = await created({ baseUrl: from })
  const { status, json } = await update(id, { baseUrl: to })
  expect(status).toBe(200)
  expect(json).toMatchObject({ baseUrl: to, hasApiKey: true })
  expect(await storedKey(id)).toBe(key)
})

test('baseUrl may change freely when no key is stored, or with the key cleared', async () => {
  const keyless = await created({ providerType: 'ollama', apiKey: null })
  expect((await update(keyless.id, { baseUrl: 'http://other:11434' })).status).toBe(200)
  const keyed = await created({ providerType: 'ollama' })
  const moved = await update(keyed.id, { baseUrl: 'http://other:11434', apiKey: null })
  expect(moved.json).toMatchObject({ hasApiKey: false, baseUrl: 'http://other:11434' })
})

test('a key set during a change of baseUrl never goes to the wrong address', async () => {
  const { id } = await created({ providerType: 'ollama', apiKey: null, baseUrl: 'http://a' })
  const moved = await database().sql.begin(async (tx) => {
    await tx`update providers set api_key = 'sealed' where id = ${id}`
    const moving = update(id, { baseUrl: 'http://b' })
    const waiting = async () =>
      (
        await tx`select 1 from pg_locks where not granted and database = (
          select oid from pg_database where datname = current_database()) or not granted and database is null`
      ).length
    await expect.poll(waiting).not.toBe(0)
    return { moving }
  })
  expect((await moved.moving).status).toBe(400)
  const now = (await call('GET', `${path}/${id}`)).json
  expect(now).toMatchObject({ baseUrl: 'http://a', hasApiKey: true })
})
