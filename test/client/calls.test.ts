/** The management API through the client: typed calls, keys, the login's cookie, refusals. */
import { expect, expectTypeOf, test } from 'vitest'
import { ApiError, createClient } from '../../packages/client/src/index.ts'
import { createAgent, sharedApp, startTestApp } from '../support/app.ts'
import { startProxy } from '../support/network/proxy.ts'

test('records are made, read, listed, changed and deleted', async () => {
  await using app = await sharedApp()
  const client = createClient({ baseUrl: `${app.url}/` })
  const made = await client.POST('/api/v1/prompts', { body: { name: 'Prompt & more', content: 'Be brief.' } })
  expectTypeOf(made.id).toEqualTypeOf<string>()
  const path = { id: made.id }
  expect(await client.GET('/api/v1/prompts/{id}', { params: { path } })).toEqual(made)
  const list = await client.GET('/api/v1/prompts', { params: { query: { q: 'Prompt & m', limit: 5 } } })
  expect(list).toMatchObject({ prompts: [made], total: 1, limit: 5 })
  expect(await client.PUT('/api/v1/prompts/{id}', { params: { path }, body: { name: 'New' } })).toMatchObject({
    name: 'New',
    content: 'Be brief.',
  })
  expect(await client.DELETE('/api/v1/prompts/{id}', { params: { path } })).toBeUndefined()
  await expect(client.GET('/api/v1/prompts/{id}', { params: { path: { id: '../providers' } } })).rejects.toMatchObject({
    status: 404,
  })
  const leaving = new AbortController()
  leaving.abort(new Error('gone'))
  await expect(client.GET('/api/v1/prompts', { signal: leaving.signal })).rejects.toThrow('gone')
  // @ts-expect-error a name and content are required
  await expect(client.POST('/api/v1/prompts', { body: {} })).rejects.toMatchObject({ name: 'ApiError', status: 400 })
})

test('a login’s cookie is kept where no browser does it, until the logout', async () => {
  await using app = await startTestApp({ settings: { AUTH_CREDENTIALS: 'anna:secret-word' } })
  const client = createClient({ baseUrl: app.url })
  await expect(client.GET('/api/v1/agents')).rejects.toMatchObject({ status: 401 })
  await client.POST('/api/auth/login', { body: { username: 'anna', password: 'secret-word' } })
  expect(await client.GET('/api/auth/me')).toEqual({ username: 'anna', role: 'admin', method: 'password' })
  await client.POST('/api/auth/logout')
  await expect(client.GET('/api/v1/agents')).rejects.toThrow(ApiError)
})

test('the key of the deploy API, and its refusal in the object format', async () => {
  await using app = await startTestApp({ settings: { PUBLIC_API_KEY: 'the-key' } })
  const { agentId } = await createAgent(app)
  const open = createClient({ baseUrl: app.url, headers: { authorization: 'Bearer the-key' } })
  expect(await open.agent(agentId).session().send('/echo in').text()).toBe('in')
  const refused = createClient({ baseUrl: app.url }).agent(agentId).session(crypto.randomUUID()).send('x').text()
  await expect(refused).rejects.toMatchObject({
    name: 'ApiError',
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  })
})

test('the steps of a session, live and over a break', async () => {
  await using app = await sharedApp()
  const { agentId } = await createAgent(app)
  await using proxy = await startProxy(app.url)
  const session = createClient({ baseUrl: app.url }).agent(agentId).session()
  await session.create()
  const leaving = new AbortController()
  const client = createClient({ baseUrl: proxy.url, reconnect: { firstWaitMs: 20 } })
  const steps = client.events(`/api/v1/debug/sessions/${session.id}/transitions/stream?kind=transition`, {
    signal: leaving.signal,
  })
  const first = steps.next()
  await session.send('/echo hi').text()
  const seqs = [Number((await first).value?.id)]
  for (let n = 2; n <= 3; n++) {
    proxy.drop()
    const { value } = await steps.next()
    expect(JSON.parse(value?.data ?? '').seq).toBe(Number(value?.id))
    seqs.push(Number(value?.id))
  }
  expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other))
  leaving.abort(new Error('enough'))
  await expect(steps.next()).rejects.toThrow('enough')
})

test('a base URL that is none is told at once', () => {
  expect(() => createClient({ baseUrl: 'localhost' })).toThrow(TypeError)
})
