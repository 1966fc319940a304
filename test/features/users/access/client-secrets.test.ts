/** Contract section 11: client secrets, how they are made and which are good. */
import { afterAll, expect } from 'vitest'
import { call, nobody } from '../../../http/scene.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, forge, openFrontDoor, partsOf, say } from './front-door-scene.ts'

const scene = await openFrontDoor()
const open = await openFrontDoor({ settings: { PUBLIC_API_KEY: '' }, instances: 1 })
afterAll(() => Promise.all([scene.close(), open.close()]))

const mint = (body: unknown, path = scene.deploy()) => scene.asKey('POST', `${path}/client_secrets`, body)
const unixNow = () => Math.floor(Date.now() / 1000)
const refused = (code: string) => ({ error: { message: expect.any(String), type: 'invalid_request_error', code } })

verifies('contract-11.secrets', 'a secret is made for a user, for 600 s or as long as is asked', async () => {
  const before = unixNow()
  const { status, json, headers } = await mint({ user: 'anna' })
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store'])
  expect(json).toEqual({
    value: expect.stringMatching(/^ek_/),
    expires_at: expect.any(Number),
    user: 'anna',
    session_id: null,
  })
  expect(json.expires_at - before).toBeGreaterThanOrEqual(600)
  expect(json.expires_at - unixNow()).toBeLessThanOrEqual(600)
  for (const seconds of [10, 7200]) {
    const begun = unixNow()
    const longer = await mint({ user: 'anna', expires_after: { anchor: 'created_at', seconds } })
    expect(longer.json.expires_at - begun).toBeGreaterThanOrEqual(seconds)
    expect(longer.json.expires_at - unixNow()).toBeLessThanOrEqual(seconds)
  }
  const session = await scene.session('anna')
  expect((await mint({ user: 'anna', session_id: session.toUpperCase() })).json.session_id).toBe(session)
  expect((await mint({ user: 'ä'.repeat(200), session_id: null, expires_after: null })).status).toBe(201)
})

verifies('contract-11.secrets', 'what misses the contract is 400, an unknown agent or session 404', async () => {
  for (const body of [
    {},
    { user: '' },
    { user: 'x'.repeat(201) },
    { user: 7 },
    { user: 'a\0' },
    { user: 'anna', expires_after: { anchor: 'last_used', seconds: 60 } },
    ...[9, 7201, 60.5, '60', -1].map((seconds) => ({
      user: 'anna',
      expires_after: { anchor: 'created_at', seconds },
    })),
    { user: 'anna', session_id: 7 },
  ]) {
    expect([body, (await mint(body)).status]).toEqual([body, 400])
  }
  expect((await mint({ user: 'anna' }, scene.deploy(nobody))).status).toBe(404)
  const [another, mine] = [await scene.session('ben'), await scene.session('anna', await scene.newAgent())]
  for (const session_id of [nobody, 'no-uuid', '', another, await scene.session(null), mine]) {
    expect([session_id, (await mint({ user: 'anna', session_id })).status]).toEqual([session_id, 404])
  }
})

verifies('contract-11.secrets', 'any instance takes it, as the bearer token and in the query of a stream', async () => {
  const secret = await scene.secret('anna')
  const session = await scene.session('anna')
  const path = `${scene.deploy()}/sessions/${session}`
  scene.says('all ', 'is well')
  for (const app of [scene.here, scene.there]) {
    expect((await scene.as(secret, 'GET', path, undefined, app)).json.id).toBe(session)
    const stream = await openSse(`${app.url}${path}/chat/completions/stream?access_token=${secret}`)
    expect(stream.status).toBe(204)
  }
  expect((await scene.as(secret, 'POST', `${path}/chat/completions`, say('hi'))).status).toBe(200)
  for (const app of [scene.here, scene.there]) {
    const stream = await openSse(`${app.url}${path}/chat/completions/stream?access_token=${secret}`)
    expect(stream.status).toBe(200)
    expect((await stream.rest()).frames.at(-1)?.data).toBe('[DONE]')
  }
})

verifies('contract-11.secrets', 'the query counts on GETs that stream alone, and only for secrets', async () => {
  const secret = await scene.secret('anna')
  const session = await scene.session('anna')
  const path = `${scene.here.url}${scene.deploy()}/sessions/${session}`
  const query = `access_token=${secret}`
  for (const [method, url, body] of [
    ['GET', `${path}?${query}`, undefined],
    ['GET', `${path}/messages?${query}`, undefined],
    ['DELETE', `${path}?${query}`, undefined],
    ['POST', `${path}/chat/completions?${query}`, say('hi', { stream: true })],
    ['GET', `${path}/chat/completions/stream?access_token=the-deploy-key`, undefined],
    ['GET', `${path}/chat/completions/stream?${query}&${query}`, undefined],
    ['GET', `${path}/chat/completions/stream?access_token=`, undefined],
    ['GET', `${path}/chat/completions/stream?Access_Token=${secret}`, undefined],
  ] as const) {
    const answer = await call(url, method, body)
    expect([url, answer.status, answer.json]).toEqual([url, 401, refused('invalid_api_key')])
  }
})

verifies('contract-11.exact', 'only exactly the string that was handed out is good', async () => {
  const secret = await scene.secret('anna')
  const { header, claims, signature } = partsOf(secret)
  const [first = '', second = ''] = secret.slice(3).split('.')
  const last = signature.at(-1) ?? ''
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  // Decoders ignore the last two bits of the last sign: the same bytes in another string.
  const twin = alphabet[alphabet.indexOf(last) + 1] ?? ''
  for (const given of [
    secret.slice(3),
    secret.toUpperCase(),
    `EK_${secret.slice(3)}`,
    `${secret}=`,
    `${secret} `.padEnd(secret.length + 3, '.'),
    `${secret}.`,
    `${secret},${secret}`,
    secret.slice(0, -1),
    `${secret.slice(0, -1)}${twin}`,
    `ek_${first}.${second}.`,
    `ek_${first}.${second}`,
    `ek_${first}..${signature}`,
    `ek_${first}=.${second}.${signature}`,
    `ek_ek_${secret.slice(3)}`,
    'ek_',
    'ek_x',
    forge({ alg: 'none' }, claims, null),
    forge({ ...header, alg: 'none' }, claims, null),
    forge(header, claims, 'another key'),
    forge(header, claims, 'test-secret-key'),
    forge({ ...header, kid: undefined }, claims, 'test-secret-key'),
    forge(header, { ...claims, sub: 'ben' }, null) + signature,
    `ek_${first}.${Buffer.from(JSON.stringify({ ...claims, sub: 'ben' })).toString('base64url')}.${signature}`,
  ]) {
    for (const app of [scene, open]) {
      const { status, json } = await app.as(given, 'GET', `${app.deploy()}/sessions`)
      const isSecret = given.toLowerCase().startsWith('ek_')
      // An open server takes any other word for a key that it does not ask for.
      if (app === scene || isSecret) expect([given, status, json]).toEqual([given, 401, refused('invalid_api_key')])
    }
  }
  expect((await scene.as(secret, 'GET', `${scene.deploy()}/sessions`)).status).toBe(200)
})

verifies('contract-11.refusals', 'a secret of another agent is 401, and management knows none', async () => {
  const other = await scene.newAgent()
  const secret = await scene.secret('anna', {}, other)
  const answer = await scene.as(secret, 'GET', `${scene.deploy()}/sessions`)
  expect([answer.status, answer.json]).toEqual([401, refused('invalid_api_key')])
  expect((await scene.as(secret, 'GET', `${scene.deploy(other)}/sessions`)).status).toBe(200)
  for (const path of ['/api/v1/agents', `/api/v1/agents/${other}`, '/api/v1/export', '/api/v1/nothing']) {
    expect([path, (await scene.as(secret, 'GET', path)).status]).toEqual([path, 401])
  }
})

verifies(
  'contract-11.open',
  'where no key is set, a secret that is sent still limits, and a bad one is 401',
  async () => {
    const made = await call(`${open.here.url}${open.deploy()}/client_secrets`, 'POST', { user: 'anna' })
    expect(made.status).toBe(201)
    const secret = made.json.value
    const [mine, hers] = [await open.session('anna'), await open.session('ben')]
    const get = (id: string, headers: Record<string, string>) =>
      call(`${open.here.url}${open.deploy()}/sessions/${id}`, 'GET', undefined, headers)
    expect((await get(hers, {})).status).toBe(200)
    expect((await get(hers, bearer('sk-anything'))).status).toBe(200)
    expect((await get(mine, bearer(secret))).status).toBe(200)
    expect((await get(hers, bearer(secret))).status).toBe(404)
    expect((await get(hers, bearer(`${secret}x`))).json).toEqual(refused('invalid_api_key'))
    const stream = `${open.here.url}${open.deploy()}/sessions/${hers}/chat/completions/stream`
    expect((await call(`${stream}?access_token=${secret}`, 'GET')).status).toBe(404)
    expect((await call(`${stream}?access_token=${secret}`, 'GET', undefined, bearer('sk-anything'))).status).toBe(404)
    expect((await call(`${stream}?access_token=wrong`, 'GET')).json).toEqual(refused('invalid_api_key'))
  },
)

verifies('contract-11.expiry', 'after its time it is 401, and a stream that is open goes on to the end', async () => {
  const { value, expires_at } = (await mint({ user: 'anna', expires_after: { seconds: 10 } })).json
  const session = await scene.session('anna')
  const playing = scene.byHand()
  const stream = await scene.stream(value, session)
  const provider = await playing
  await provider.text('before')
  await stream.next()
  await expect
    .poll(async () => (await scene.as(value, 'GET', `${scene.deploy()}/sessions/${session}`)).json)
    .toEqual(refused('token_expired'))
  expect(unixNow()).toBeGreaterThanOrEqual(expires_at)
  await provider.text(' and after')
  await provider.finish()
  const { frames, broken } = await stream.rest()
  expect([broken, frames.at(-1)?.data]).toEqual([false, '[DONE]'])
})
