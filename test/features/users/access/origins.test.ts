/** Contract section 11, Origins: which web pages may call an agent's deploy API. */
import { afterAll, expect } from 'vitest'
import { type Answer, call, nobody } from '../../../http/scene.ts'
import { createAgent } from '../../../support/app.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, DEPLOY_KEY, openFrontDoor, say } from './front-door-scene.ts'

const exposed =
  'x-request-id, x-session-id, x-queue-position, retry-after, x-should-retry, x-greenroom-ignored, x-last-event-id, mcp-session-id, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests'
const scene = await openFrontDoor()
const open = await openFrontDoor({ settings: { PUBLIC_API_KEY: '' }, instances: 1 })
afterAll(() => Promise.all([scene.close(), open.close()]))

const page = 'https://shop.example'
const foreign = 'https://evil.example'
const manage = (method: string, path: string, body?: unknown, app = scene.there) =>
  call(`${app.url}${path}`, method, body)
const allow = (origins: unknown, agent = scene.agentId, app = scene.there) =>
  manage('PUT', `/api/v1/agents/${agent}`, { allowedOrigins: origins }, app)
await allow([page, 'http://localhost:5173'])
await allow([page], open.agentId, open.here)

const corsHeaders = ({ headers }: Pick<Answer, 'headers'>) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))
const ask = (
  origin: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  app = scene.here,
) => call(`${app.url}${path}`, method, body, { origin, ...headers })
const preflight = (origin: string, path: string, app = scene.here) =>
  ask(
    origin,
    'OPTIONS',
    path,
    undefined,
    { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' },
    app,
  )

verifies('contract-11.origins', 'an agent’s origins are stored, none by default, cleared by null or none', async () => {
  const agent = await scene.newAgent()
  const get = async () => (await manage('GET', `/api/v1/agents/${agent}`)).json.allowedOrigins
  expect(await get()).toEqual([])
  const many = Array.from({ length: 20 }, (_, n) => `https://host-${n}.example:444${n % 10}`)
  for (const origins of [
    [
      'https://a.example',
      'http://a.example:8080',
      'http://127.0.0.1:3000',
      'http://[::1]:3000',
      'https://xn--mnchen-3ya.de',
    ],
    many,
    [],
  ]) {
    expect((await allow(origins, agent)).json.allowedOrigins).toEqual(origins)
    expect(await get()).toEqual(origins)
  }
  await allow([page], agent)
  await manage('PUT', `/api/v1/agents/${agent}`, { name: 'Another name' })
  expect(await get()).toEqual([page])
  await allow(null, agent)
  expect(await get()).toEqual([])
})

verifies('contract-11.origins', 'what no browser sends as Origin is 400, and changes nothing', async () => {
  const agent = await scene.newAgent()
  await allow([page], agent)
  for (const one of [
    '*',
    'https://*',
    'https://*.example.com',
    'shop.example',
    'ftp://shop.example',
    'https://Shop.example',
    'HTTPS://shop.example',
    'https://shop.example/',
    'https://shop.example/path',
    'https://shop.example?x',
    'https://shop.example#x',
    'https://shop.example:443',
    'http://shop.example:80',
    'https://shop.example:99999',
    'https://user@shop.example',
    'https://münchen.de',
    'https://',
    'null',
    '',
    7,
    null,
  ]) {
    const refused = await allow(['https://fine.example', one], agent)
    expect([one, refused.status]).toEqual([one, 400])
    expect(refused.json.message).toContain('allowedOrigins.1')
  }
  for (const all of ['https://a.example', {}, Array.from({ length: 21 }, (_, n) => `https://host-${n}.example`)]) {
    expect((await allow(all, agent)).status).toBe(400)
  }
  expect((await manage('GET', `/api/v1/agents/${agent}`)).json.allowedOrigins).toEqual([page])
  const { providerId, name, model } = (await manage('GET', `/api/v1/agents/${agent}`)).json
  const made = (allowedOrigins: unknown) =>
    manage('POST', '/api/v1/agents', { providerId, name, model, allowedOrigins })
  expect((await made(['https://shop.example/'])).status).toBe(400)
  expect((await made([page])).json.allowedOrigins).toEqual([page])
  expect((await made(null)).json.allowedOrigins).toEqual([])
})

verifies(
  'contract-11.origins',
  'a listed origin gets its headers with every answer, errors and streams included',
  async () => {
    const secret = await scene.secret('anna')
    const session = await scene.session('anna')
    const own = `${scene.deploy()}/sessions/${session}`
    scene.says('hello')
    for (const [method, path, body, token, status] of [
      ['GET', own, undefined, secret, 200],
      ['POST', `${own}/chat/completions`, say('x'), secret, 200],
      ['POST', `${own}/chat/completions`, {}, secret, 400],
      ['GET', `${scene.deploy()}/nothing`, undefined, secret, 404],
      ['POST', `${scene.deploy()}/chat/completions`, say('x'), secret, 403],
      ['GET', own, undefined, 'ek_wrong', 401],
      ['GET', own, undefined, 'wrong', 401],
    ] as const) {
      const answer = await ask(page, method, path, body, bearer(token))
      expect([path, answer.status]).toEqual([path, status])
      expect(answer.headers.get('access-control-allow-origin')).toBe(page)
      expect(answer.headers.get('access-control-expose-headers')).toBe(exposed)
      expect(answer.headers.get('vary')).toBe('Origin')
      expect(corsHeaders(answer)).toHaveLength(2)
    }
    const stream = await openSse(`${scene.here.url}${own}/chat/completions/stream?access_token=${secret}`, undefined, {
      origin: page,
    })
    expect([stream.status, stream.headers.get('access-control-allow-origin')]).toEqual([200, page])
    stream.leave()
  },
)

verifies(
  'contract-11.origins',
  'its preflights are 204 with methods, headers and an age, without a credential',
  async () => {
    for (const path of ['/sessions', `/sessions/${nobody}`, '/ai-sdk', '/anything']) {
      const answer = await preflight(page, `${scene.deploy()}${path}`)
      expect([answer.status, answer.text]).toEqual([204, ''])
      expect(answer.headers.get('access-control-allow-origin')).toBe(page)
      expect(answer.headers.get('vary')).toBe('Origin')
      expect(answer.headers.get('access-control-max-age')).toBe('600')
      expect(answer.headers.get('access-control-allow-methods')?.split(', ')).toEqual(
        expect.arrayContaining(['GET', 'POST', 'PATCH', 'DELETE']),
      )
      expect(answer.headers.get('access-control-allow-headers')?.split(', ')).toEqual(
        expect.arrayContaining([
          ...['accept', 'authorization', 'content-type', 'idempotency-key', 'last-event-id', 'user-agent'],
          ...['x-stainless-retry-count', 'x-stainless-lang', 'x-stainless-timeout', 'openai-organization'],
        ]),
      )
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    }
  },
)

verifies(
  'contract-11.origins',
  'nobody else gets one: other origins, agents and paths, and whoever has the key',
  async () => {
    const secret = await scene.secret('anna')
    const other = await scene.newAgent()
    const own = `${scene.deploy()}/sessions/${await scene.session('anna')}`
    const answers = [
      await ask(foreign, 'GET', own, undefined, bearer(secret)),
      await ask(`${page}:444`, 'GET', own, undefined, bearer(secret)),
      await ask('http://shop.example', 'GET', own, undefined, bearer(secret)),
      await ask('null', 'GET', own, undefined, bearer(secret)),
      await ask(page, 'GET', own, undefined, bearer(DEPLOY_KEY)),
      await ask(page, 'GET', `${scene.deploy(other)}/sessions`, undefined, bearer(secret)),
      await ask(page, 'GET', `${scene.deploy(nobody)}/sessions`, undefined, bearer(secret)),
      await ask(page, 'GET', `/api/v1/agents/${scene.agentId}`),
      await ask(page, 'GET', '/livez'),
      await call(`${scene.here.url}${own}`, 'GET', undefined, bearer(secret)),
      await preflight(foreign, own),
      await preflight(page, `${scene.deploy(other)}/sessions`),
      await preflight(page, `/api/v1/agents/${scene.agentId}`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 200, 401, 401, 200, 200, 200, 403, 403, 404,
    ])
    for (const answer of answers) expect(corsHeaders(answer)).toEqual([])
  },
)

verifies('contract-11.origins', 'a change counts at once, on every instance', async () => {
  const { agentId } = await createAgent(scene.here)
  const path = `${scene.deploy(agentId)}/sessions`
  for (const [origins, status] of [
    [[page], 204],
    [[], 403],
    [[page], 204],
  ] as const) {
    await allow(origins, agentId, scene.there)
    expect((await preflight(page, path)).status).toBe(status)
  }
})

verifies('contract-11.foreign-page', 'on an open server a foreign page gets 403 for what needs no leave', async () => {
  const session = await open.session('anna')
  const made = await call(`${open.here.url}${open.deploy()}/client_secrets`, 'POST', { user: 'anna' })
  const own = `${open.deploy()}/sessions/${session}`
  const cancel = `${own}/chat/completions/cancel`
  const from = (origin: string, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    ask(origin, method, path, body, headers, open.here)
  for (const [method, path] of [
    ['POST', cancel],
    ['POST', `${open.deploy()}/sessions`],
    ['DELETE', own],
  ] as const) {
    for (const origin of [foreign, 'null']) {
      const refused = await from(origin, method, path)
      expect([path, refused.status, refused.json]).toEqual([path, 403, { error: expect.any(String) }])
    }
  }
  const text = await from(foreign, 'POST', `${open.deploy()}/chat/completions`, JSON.stringify(say('x')), {
    'content-type': 'text/plain',
  })
  expect(text.status).toBe(403)
  open.says('hello')
  const served = [
    await from(foreign, 'POST', `${open.deploy()}/chat/completions`, say('x')),
    await from(foreign, 'POST', cancel, undefined, bearer(made.json.value)),
    await from(page, 'POST', cancel),
    await from(open.here.url, 'POST', cancel),
    await call(`${open.here.url}${cancel}`, 'POST'),
    await from(foreign, 'GET', own),
  ]
  expect(served.map(({ status }) => status)).toEqual([200, 204, 204, 204, 204, 200])
  // Where there is a key, it was sent on purpose.
  const keyed = `${scene.deploy()}/sessions/${await scene.session('anna')}/chat/completions/cancel`
  expect((await ask(foreign, 'POST', keyed, undefined, bearer(DEPLOY_KEY))).status).toBe(204)
})

verifies(['contract-11.origins', 'contract-8.export'], 'export and import carry them', async () => {
  const agent = await scene.newAgent()
  await manage('PUT', `/api/v1/agents/${agent}`, { name: 'Carried', allowedOrigins: [page] })
  const { json } = await manage('GET', '/api/v1/export')
  const carried = json.agents.filter(({ name }: { name: string }) => name === 'Carried')
  expect(carried[0].allowedOrigins).toEqual([page])
  const take = (one: object) => manage('POST', '/api/v1/import', { version: 1, agents: [{ ...carried[0], ...one }] })
  const origins = async () => (await manage('GET', `/api/v1/agents/${agent}`)).json.allowedOrigins
  expect((await take({})).json).toMatchObject({ created: 0, updated: 0, skipped: [] })
  expect((await take({ allowedOrigins: [foreign] })).json.updated).toBe(1)
  expect(await origins()).toEqual([foreign])
  expect((await take({ allowedOrigins: ['nonsense'] })).json.skipped[0].reason).toContain('allowedOrigins.0')
  expect(await origins()).toEqual([foreign])
  const { allowedOrigins: _, ...without } = carried[0]
  await manage('POST', '/api/v1/import', { version: 1, agents: [{ ...without, name: 'Fresh' }] })
  const fresh = (await manage('GET', '/api/v1/export')).json.agents.find(
    ({ name }: { name: string }) => name === 'Fresh',
  )
  expect(fresh.allowedOrigins).toEqual([])
})
