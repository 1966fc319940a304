/** Contract section 23: named keys, on two instances that share a database. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tags } from '../../../../openapi/contract.ts'
import type { Operation } from '../../../../openapi/operation.ts'
import { call, nobody } from '../../../http/scene.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { cellInTier } from '../../../support/tier.ts'
import { verifies } from '../../../verifies.ts'
import { image } from '../../parts/routes/parts-scene.ts'
import { bearer, DEPLOY_KEY, type FrontDoor, openFrontDoor, say } from '../../users/access/front-door-scene.ts'

let door: FrontDoor
let cookie: string
beforeAll(async () => {
  door = await openFrontDoor({ settings: { AUTH_CREDENTIALS: 'anna:secret-word' } })
  const login = await call(`${door.here.url}/api/auth/login`, 'POST', { username: 'anna', password: 'secret-word' })
  cookie = login.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ')
})
afterAll(() => door.close())

const manage = (method: string, path: string, body?: unknown, app = door.here) =>
  call(`${app.url}${path}`, method, body, { cookie })
const newKey = async (body: object) => {
  const made = await manage('POST', '/api/v1/keys', { name: 'K', scopes: ['deploy'], ...body })
  if (made.status !== 201) throw new Error(made.text)
  return made.json
}
const refusal = {
  error: { message: 'The API key is not valid.', type: 'invalid_request_error', code: 'invalid_api_key' },
}

verifies('contract-23.keys', 'made, read, listed, changed and deleted; the key itself is nowhere', async () => {
  const made = await newKey({ name: 'Tenant', agentIds: [door.agentId], expiresAt: '2099-01-31T00:00:00Z' })
  const { key, ...record } = made
  expect(key).toMatch(/^gr_[A-Za-z0-9_-]{43}$/)
  expect(record).toEqual({
    id: expect.any(String),
    name: 'Tenant',
    hint: key.slice(-4),
    scopes: ['deploy'],
    role: null,
    agentIds: [door.agentId],
    limits: null,
    expiresAt: '2099-01-31T00:00:00.000Z',
    lastUsedAt: null,
    createdBy: 'anna',
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  })
  const path = `/api/v1/keys/${record.id}`
  expect((await manage('GET', path)).json).toEqual(record)
  expect((await manage('GET', '/api/v1/keys?q=tenant')).json).toEqual({
    keys: [record],
    total: 1,
    limit: 20,
    offset: 0,
  })
  const back = await manage('PUT', path, record)
  expect([back.status, back.json]).toEqual([200, { ...record, updatedAt: expect.any(String) }])
  expect((await manage('PUT', path, { name: 'T2', agentIds: null, expiresAt: null })).json).toMatchObject({
    name: 'T2',
    agentIds: null,
    expiresAt: null,
  })
  const rows = await door.sql`select to_jsonb(k)::text as row from keys k`
  expect(JSON.stringify(rows)).not.toContain(key.slice(3))
  expect((await manage('DELETE', path)).status).toBe(204)
  expect((await manage('GET', path)).status).toBe(404)
})

test.each([
  [{ scopes: [] }, 'scopes'],
  [{ scopes: ['admin'] }, 'scopes'],
  [{ agentIds: [] }, 'agentIds'],
  [{ agentIds: [nobody] }, 'agentIds'],
  [{ agentIds: ['x'] }, 'agentIds'],
  [{ expiresAt: 'tomorrow' }, 'expiresAt'],
  [{ expiresAt: '2030-02-30T00:00:00Z' }, 'expiresAt'],
  [{ key: 'gr_mine' }, 'key'],
  [{ name: '' }, 'name'],
])('%j is 400', async (fields, field) => {
  const answer = await manage('POST', '/api/v1/keys', { name: 'K', scopes: ['deploy'], ...fields })
  expect([answer.status, answer.json.message.startsWith(field)]).toEqual([400, true])
})

verifies('contract-23.keys', 'scopes do not change, and a deleted agent leaves the list', async () => {
  const agentId = await door.newAgent()
  const { id, key } = await newKey({ agentIds: [agentId] })
  expect((await manage('PUT', `/api/v1/keys/${id}`, { scopes: ['management'] })).status).toBe(400)
  expect((await manage('DELETE', `/api/v1/agents/${agentId}`)).status).toBe(204)
  expect((await manage('GET', `/api/v1/keys/${id}`)).json.agentIds).toEqual([])
  await expect.poll(async () => (await door.as(key, 'GET', '/api/v1/openai/models')).json?.data).toEqual([])
  expect((await door.as(key, 'GET', `${door.deploy()}/sessions`)).status).toBe(401)
})

verifies('contract-23.deploy', 'a key opens its agents on every instance, and no other', async () => {
  const other = await door.newAgent()
  const { key } = await newKey({ agentIds: [door.agentId] })
  for (const app of [door.there, door.here]) {
    expect((await door.as(key, 'GET', `${door.deploy()}/sessions`, undefined, app)).status).toBe(200)
    const refused = await door.as(key, 'GET', `${door.deploy(other)}/sessions`, undefined, app)
    expect([refused.status, refused.json]).toEqual([401, refusal])
  }
  const { data } = (await door.as(key, 'GET', '/api/v1/openai/models')).json
  expect(data.map(({ id }: { id: string }) => id)).toEqual([door.agentId])
  door.says('Hi.')
  const asked = (model: string) => door.as(key, 'POST', '/api/v1/openai/chat/completions', say('Hi', { model }))
  expect((await asked(door.agentId)).status).toBe(200)
  expect((await asked(other)).status).toBe(404)
  for (const bad of [`${key}x`, key.slice(0, -1), 'gr_', `gr_${'A'.repeat(43)}`, key.toUpperCase()]) {
    expect([bad, (await door.as(bad, 'GET', `${door.deploy()}/sessions`)).status]).toEqual([bad, 401])
  }
  const inQuery = await call(`${door.here.url}${door.deploy()}/sessions?access_token=${key}`, 'GET')
  expect(inQuery.status).toBe(401)
  // PUBLIC_API_KEY stays the one for all.
  expect((await door.asKey('GET', `${door.deploy(other)}/sessions`)).status).toBe(200)
})

verifies('contract-23.deploy', 'a key sends no picture of another agent again', async () => {
  const [other, session] = [await door.newAgent(), await door.session('ann')]
  const { key } = await newKey({ agentIds: [other] })
  door.says('Hi.')
  const own = `${door.deploy()}/sessions/${session}`
  const ask = (token: string, path: string, part: object) =>
    door.as(token, 'POST', `${path}/chat/completions`, { messages: [{ role: 'user', content: [part] }] })
  expect((await ask(DEPLOY_KEY, own, image())).status).toBe(200)
  const [{ parts }] = (await door.asKey('GET', `${own}/messages`)).json.messages
  const again = { type: 'image_url', image_url: { url: parts[0].url } }
  expect((await ask(key, door.deploy(other), again)).status).toBe(400)
  expect((await ask(DEPLOY_KEY, door.deploy(other), again)).status).toBe(200)
})

verifies(
  'contract-23.deploy',
  'where the deploy API is open, creating warns, and a key that is sent still limits',
  async () => {
    const open = await openFrontDoor({ settings: { PUBLIC_API_KEY: '' }, instances: 1 })
    try {
      const other = await open.newAgent()
      const made = await call(`${open.here.url}/api/v1/keys`, 'POST', {
        name: 'K',
        scopes: ['deploy'],
        agentIds: [other],
      })
      expect(made.json).toMatchObject({ warning: expect.stringContaining('PUBLIC_API_KEY'), createdBy: null })
      const list = (headers: Record<string, string>, agent = open.agentId) =>
        call(`${open.here.url}${open.deploy(agent)}/sessions`, 'GET', undefined, headers)
      expect((await list({})).status).toBe(200)
      expect((await list(bearer('sk-anything'))).status).toBe(200)
      expect((await list(bearer(made.json.key), other)).status).toBe(200)
      expect((await list(bearer(made.json.key))).status).toBe(401)
      expect((await list(bearer('gr_nothing'))).status).toBe(401)
    } finally {
      await open.close()
    }
  },
)

const all = tags.flatMap(({ operations }) => Object.entries<Operation>(operations))

verifies(['contract-23.scopes', 'contract-23.management'], 'every route, with a key of each scope', async () => {
  const scopes = ['deploy', 'management', 'management:read', 'audit:read']
  const keys: Record<string, string> = Object.fromEntries(
    await Promise.all(scopes.map(async (scope) => [scope, (await newKey({ scopes: [scope] })).key])),
  )
  const wrong: unknown[] = []
  let asked = 0
  for (const [row, [id, { method, path, scope, open, loginAlone, keyScope }]] of all.entries()) {
    if (scope === 'health') continue
    const url = `${door.here.url}${path.replace(/\{\w+\}/g, nobody)}` // of nobody: no key changes anything
    for (const [column, [kind, key]] of Object.entries(keys).entries()) {
      if (open || (scope === 'deploy' && kind === 'deploy') || !cellInTier(2)(row, column)) continue
      const expected =
        scope === 'deploy'
          ? 401
          : keyScope !== undefined || kind === 'audit:read'
            ? kind === keyScope
              ? null
              : 403
            : loginAlone || kind === 'deploy' || (kind !== 'management' && method !== 'get')
              ? 403
              : null
      if (expected === null && method !== 'get' && !path.includes('{')) continue // would be obeyed
      const headers = { ...bearer(key), cookie, origin: 'https://elsewhere.example' }
      const body = method === 'get' || method === 'delete' ? undefined : {}
      const controller = new AbortController()
      const response = await fetch(url, {
        method: method.toUpperCase(),
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: controller.signal,
      })
      controller.abort()
      asked += 1
      const isRight = expected === null ? ![401, 403, 500].includes(response.status) : response.status === expected
      if (!isRight) wrong.push([id, kind, response.status, expected])
    }
  }
  expect(wrong).toEqual([])
  expect(asked).toBeGreaterThan(100)
})

verifies(
  'contract-23.management',
  'a management key needs no cookie and no origin; a bad one is not saved by a cookie',
  async () => {
    const { key } = await newKey({ scopes: ['management'] })
    const by = (headers: Record<string, string>) =>
      call(`${door.there.url}/api/v1/prompts`, 'POST', { name: 'P', content: 'c' }, headers)
    expect((await by({ ...bearer(key), origin: 'https://elsewhere.example' })).status).toBe(201)
    expect((await by({ ...bearer('gr_wrong'), cookie })).status).toBe(401)
    expect((await by({})).status).toBe(401)
    // What begins otherwise is no key, and looked at as before.
    expect((await by({ ...bearer('sk-something'), cookie })).status).toBe(201)
  },
)

verifies(
  'contract-23.revocation',
  'a deleted key is refused on the other instance, its stream ends without a last frame',
  async () => {
    const { id, key } = await newKey({})
    const session = await door.session('ann')
    const upstream = door.byHand()
    const url = `${door.there.url}${door.deploy()}/sessions/${session}/chat/completions`
    const stream = await openSse(url, say('hi', { stream: true }), bearer(key))
    const provider = await upstream
    await provider.text('one')
    const minted = await door.as(key, 'POST', `${door.deploy()}/client_secrets`, { user: 'ann' })
    const read = (token: string) => door.as(token, 'GET', `${door.deploy()}/sessions/${session}`, undefined, door.there)
    expect((await read(minted.json.value)).status).toBe(200)
    expect((await manage('DELETE', `/api/v1/keys/${id}`)).status).toBe(204)
    const { frames } = await stream.rest()
    expect(frames.at(-1)?.data).not.toBe('[DONE]')
    await expect.poll(async () => (await read(key)).status).toBe(401)
    await expect.poll(async () => (await read(minted.json.value)).json.error?.code).toBe('token_revoked')
    // The reply runs on.
    await provider.text(' two')
    await provider.finish()
    const content = async () =>
      (await door.asKey('GET', `${door.deploy()}/sessions/${session}/messages`)).json.messages.at(-1)
    await expect.poll(async () => (await content()).content).toBe('one two')
  },
)

verifies('contract-23.revocation', 'an expired key is refused, and its stream ends', async () => {
  const { id, key } = await newKey({})
  const session = await door.session('ann')
  const upstream = door.byHand()
  const url = `${door.there.url}${door.deploy()}/sessions/${session}/chat/completions`
  const stream = await openSse(url, say('hi', { stream: true }), bearer(key))
  const provider = await upstream
  const at = (ms: number) => ({ expiresAt: new Date(Date.now() + ms).toISOString() })
  for (let ms = 300; (await manage('PUT', `/api/v1/keys/${id}`, at(ms))).status !== 200; ms *= 2); // it may come too late
  const { frames } = await stream.rest()
  expect(frames.at(-1)?.data).not.toBe('[DONE]')
  const { status, json } = await door.as(key, 'GET', `${door.deploy()}/sessions`)
  expect([status, json.error.message]).toEqual([401, expect.stringMatching(/^The API key expired on 20/)])
  await provider.finish()
})

verifies('contract-23.revocation', 'streams of management end with the key that opened them', async () => {
  const session = await door.session('ann')
  const { id, key } = await newKey({ scopes: ['management:read'] })
  const paths = ['/api/v1/sessions/stream', `/api/v1/debug/sessions/${session}/transitions/stream`]
  const streams = await Promise.all(paths.map((path) => openSse(`${door.there.url}${path}`, undefined, bearer(key))))
  expect(streams.map(({ status }) => status)).toEqual([200, 200])
  const ends = Promise.all(streams.map((stream) => stream.rest()))
  expect((await manage('DELETE', `/api/v1/keys/${id}`)).status).toBe(204)
  expect((await ends).map(({ broken }) => broken)).toEqual([true, true])
})

verifies('contract-23.last-used', 'a use is stored, and is no change of the key', async () => {
  const { id, key, updatedAt } = await newKey({})
  await door.as(key, 'GET', `${door.deploy()}/sessions`)
  const read = async () => (await manage('GET', `/api/v1/keys/${id}`)).json
  await expect.poll(async () => (await read()).lastUsedAt).not.toBeNull()
  expect(Math.abs(Date.parse((await read()).lastUsedAt) - Date.now())).toBeLessThan(60_000)
  expect((await read()).updatedAt).toBe(updatedAt)
})

verifies('contract-23.command', 'prints a key that works', async () => {
  const env = { ...process.env, GREENROOM_URL: door.here.url, GREENROOM_LOGIN: 'anna:secret-word' }
  const run = promisify(execFile)
  const { stdout } = await run(
    process.execPath,
    ['src/cli/main.ts', 'key', 'create', 'CI', '--scope', 'management:read'],
    { env },
  )
  const answer = await call(`${door.here.url}/api/v1/agents`, 'GET', undefined, bearer(stdout.trim()))
  expect(answer.status).toBe(200)
  await expect(run(process.execPath, ['src/cli/main.ts', 'key', 'drop', 'CI'], { env })).rejects.toThrow('create NAME')
  const unnamed = run(process.execPath, ['src/cli/main.ts', 'export'], { env: { ...env, GREENROOM_LOGIN: 'anna' } })
  await expect(unnamed).rejects.toThrow('GREENROOM_LOGIN: is not of the form username:password.')
})
