/** Shares of sessions: made, listed, revoked, and what their tokens open. */
import { afterAll, expect } from 'vitest'
import { isoUtc, nobody, openScene, uuid } from '../../http/scene.ts'
import { createAgent } from '../../support/app.ts'
import { openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'

const KEY = 'deploy-key'
const scene = await openScene({ settings: { PUBLIC_API_KEY: KEY } })
afterAll(scene.close)
scene.says(['Fine.'])

const key = { authorization: `Bearer ${KEY}` }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const newSession = async (body: object = {}): Promise<string> =>
  (await scene.call('POST', scene.sessions, body, key)).json.id
const share = async (id: string, body: unknown = {}) =>
  (await scene.call('POST', `${scene.sessions}/${id}/shares`, body, key)).json
const messages = async (id: string, token: string, query = '') =>
  await scene.call('GET', `${scene.sessions}/${id}/messages${query}`, undefined, bearer(token))
const contents = async (id: string, token: string) =>
  (await messages(id, token)).json.messages.map(({ content }: { content: string }) => content)
const secretOf = async (user: string): Promise<string> =>
  (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user }, key)).json.value

verifies('contract-31.shares', 'a share is made, listed without its token, and revoked once', async () => {
  const id = await newSession()
  const made = await scene.call('POST', `${scene.sessions}/${id}/shares`, undefined, key)
  expect([made.status, made.json]).toEqual([
    201,
    {
      id: expect.stringMatching(uuid),
      token: expect.stringMatching(/^sh_[\w-]{43}$/),
      path: `/share/${scene.agentId}/${id}#${made.json.token}`,
      live: false,
      include: [],
      expires_at: null,
      created_at: expect.stringMatching(isoUtc),
    },
  ])
  const expires_at = Math.floor(Date.now() / 1000) + 3600
  const other = await share(id, { live: true, include: ['tools', 'reasoning'], expires_at })
  const list = () => scene.call('GET', `${scene.sessions}/${id}/shares`, undefined, key)
  const { token: _, path: __, ...shown } = other
  const { token: ___, path: ____, ...first } = made.json
  expect((await list()).json).toEqual({ shares: [shown, first] })
  expect(shown).toMatchObject({ live: true, include: ['tools', 'reasoning'], expires_at })
  const remove = () => scene.call('DELETE', `${scene.sessions}/${id}/shares/${other.id}`, undefined, key)
  expect([(await remove()).status, (await remove()).status]).toEqual([204, 404])
  const revoked = await messages(id, other.token)
  expect([revoked.json.error.code, revoked.headers.get('cache-control')]).toEqual(['invalid_api_key', 'no-store'])
  const [row] = await scene.app.sql<{ text: string }[]>`select string_agg(t::text, '') as text from shares t`
  expect(row?.text).not.toContain(made.json.token)
  const { json } = await scene.call('GET', `/api/v1/audit?kind=share&q=${other.id}`)
  expect(json.entries.map(({ action, recordId }: { action: string; recordId: string }) => [action, recordId])).toEqual([
    ['delete', other.id],
    ['create', other.id],
  ])
  expect(JSON.stringify(json)).not.toContain('sh_')
})

verifies('contract-31.shares', 'other values are 400, an unknown session 404, the 51st share 409', async () => {
  const id = await newSession()
  const now = Math.floor(Date.now() / 1000)
  for (const body of [
    { live: 'yes' },
    { live: null },
    { include: ['usage'] },
    { include: 'tools' },
    { expires_at: now - 1 },
    { expires_at: now + 367 * 86_400 },
    { expires_at: 'tomorrow' },
    { expires_at: now + 0.5 },
    { name: 'x' },
    [],
  ])
    expect([body, (await scene.call('POST', `${scene.sessions}/${id}/shares`, body, key)).status]).toEqual([body, 400])
  for (const unknown of [nobody, 'nothing'])
    for (const [method, end] of [
      ['POST', ''],
      ['GET', ''],
      ['DELETE', `/${nobody}`],
    ] as const)
      expect((await scene.call(method, `${scene.sessions}/${unknown}/shares${end}`, undefined, key)).status).toBe(404)
  await scene.app.sql`
    insert into shares (id, session_id, hash, live, include, created_at)
    select gen_random_uuid(), ${id}, sha256(n::text::bytea), true, '{}', now() from generate_series(1, 49) n`
  await share(id)
  expect((await scene.call('POST', `${scene.sessions}/${id}/shares`, {}, key)).status).toBe(409)
})

verifies('contract-31.share-shows', 'a share that is not live shows the path of its creation alone', async () => {
  const id = await newSession({ user: 'ann', metadata: { plan: 'gold' }, title: 'Trip' })
  const empty = await share(id)
  await scene.send(id, 'One', {}, key)
  const { token } = await share(id)
  const live = await share(id, { live: true })
  await scene.send(id, 'Two', {}, key)
  expect(await contents(id, empty.token)).toEqual([])
  expect(await contents(id, token)).toEqual(['One', 'Fine.'])
  expect(await contents(id, live.token)).toEqual(['One', 'Fine.', 'Two', 'Fine.'])
  const all = (await scene.call('GET', `${scene.sessions}/${id}/messages`, undefined, key)).json.messages
  // Another branch is chosen: what was shown stays, and what is live follows.
  await scene.send(id, 'Other', { parent_id: null }, key)
  expect(await contents(id, token)).toEqual(['One', 'Fine.'])
  expect(await contents(id, live.token)).toEqual(['Other', 'Fine.'])
  expect((await messages(id, token, '?branches=all')).json.messages).toHaveLength(2)
  expect((await messages(id, token, '?limit=1')).json.messages.map((one: { id: string }) => one.id)).toEqual([
    all[1].id,
  ])
  expect((await messages(id, token, `?after=${all[0].id}`)).json.messages).toHaveLength(1)
  expect((await messages(id, token, `?after=${all[2].id}`)).status, 'a message that is not shown').toBe(400)
  const [first] = (await messages(id, token)).json.messages
  expect(Object.keys(first).sort()).toEqual(
    ['content', 'created_at', 'finish_reason', 'id', 'parent_id', 'role', 'status'].sort(),
  )
  const session = await scene.call('GET', `${scene.sessions}/${id}?access_token=${token}`)
  expect(Object.keys(session.json).sort()).toEqual(['created_at', 'id', 'status', 'title', 'updated_at'])
  expect([session.json.title, session.headers.get('cache-control')]).toEqual(['Trip', 'no-store'])
})

verifies('contract-31.share-shows', 'a message that takes the place of a deleted one is not shown', async () => {
  const id = await newSession()
  await scene.send(id, 'One', {}, key)
  await scene.send(id, 'Two', {}, key)
  const { token } = await share(id)
  const all = (await scene.call('GET', `${scene.sessions}/${id}/messages`, undefined, key)).json.messages
  await scene.app.sql`select delete_reply(${id}, ${all[3].id})`
  await scene.send(id, 'Secret', {}, key)
  expect(await contents(id, token)).toEqual(['One', 'Fine.'])
})

verifies('contract-31.share-opens', 'its token reads one session of one agent, and changes nothing', async () => {
  const [id, other] = [await newSession({ user: 'ann' }), await newSession({ user: 'ann' })]
  await scene.send(id, 'Mine', {}, key)
  await scene.send(other, 'Hidden', {}, key)
  const { agentId } = await createAgent(scene.app, { type: 'openai-compatible', baseUrl: scene.up.url })
  const dump = async () => {
    const rows = await scene.app.sql`
      select (select jsonb_agg(to_jsonb(s) order by s.num) from sessions s) as s,
             (select jsonb_agg(to_jsonb(m) order by m.id) from messages m) as m,
             (select jsonb_agg(to_jsonb(h) order by h.id) from shares h) as h,
             (select count(*)::integer from audit_entries) as a`
    return JSON.stringify(rows)
  }
  const { token } = await share(id, { live: true, include: ['tools', 'reasoning'] })
  const before = await dump()
  let tried = 0
  const attempt = async (method: string, path: string, expected: number[]) => {
    const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { messages: [{ role: 'user', content: 'x' }] } : undefined
    for (const headers of [bearer(token), {}]) {
      const query = Object.keys(headers).length === 0 ? `${path.includes('?') ? '&' : '?'}access_token=${token}` : ''
      const { status, text } = await scene.call(method, `${path}${query}`, body, headers)
      tried += 1
      expect([method, path, query !== '', status]).toEqual([method, path, query !== '', expect.toBeOneOf(expected)])
      expect(text).not.toContain('Hidden')
    }
  }
  const deploy = `${scene.agent}/deploy`
  const one = `${scene.sessions}/${id}`
  for (const path of ['', '/messages']) await attempt('GET', `${one}${path}`, [200])
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
    for (const path of [
      '',
      '/messages',
      '/chat/completions',
      '/chat/completions/stream',
      '/shares',
      '/head',
      '/actions',
      '/compact',
    ])
      await attempt(method, `${one}${path}`, [403])
    await attempt(method, `${deploy}/chat/completions`, [403])
  }
  for (const path of ['/shares', '/queue', '/checkpoints', '/nothing', '/chat/completions'])
    await attempt('GET', `${one}${path}`, [403])
  for (const path of [
    '/sessions',
    '/sessions/stream',
    '/models',
    '/client_secrets',
    '/users/ann/export',
    '/responses/x',
    '/nothing',
  ])
    await attempt('GET', `${deploy}${path}`, [403])
  for (const path of ['/users/ann/revoke', '/client_secrets', '/sessions', '/responses', '/conversations'])
    await attempt('POST', `${deploy}${path}`, [403])
  await attempt('DELETE', `${deploy}/users/ann`, [403])
  for (const unknown of [other, nobody, 'x'])
    for (const path of ['', '/messages', '/chat/completions/stream', `/messages/${nobody}/parts/0`])
      await attempt('GET', `${scene.sessions}/${unknown}${path}`, [404])
  for (const path of ['', `/${id}`, `/${id}/messages`, '/stream'])
    await attempt('GET', `/api/v1/agents/${agentId}/deploy/sessions${path}`, [401])
  for (const path of ['chat/completions', 'responses']) await attempt('POST', `/api/v1/openai/${path}`, [401])
  await attempt('GET', '/api/v1/openai/models', [401])
  expect(tried).toBeGreaterThan(100)
  expect(await dump()).toBe(before)
  for (const path of ['/api/v1/sessions', '/api/v1/agents', '/api/v1/audit', '/api/auth/status', '/api/v1/nothing'])
    for (const method of ['GET', 'POST', 'DELETE'])
      expect([path, (await scene.call(method, path, undefined, bearer(token))).status]).toEqual([path, 401])
})

verifies('contract-31.share-opens', 'a bad token is 401, an expired one says so', async () => {
  const id = await newSession()
  const { token, id: shareId } = await share(id, { expires_at: Math.floor(Date.now() / 1000) + 3600 })
  for (const bad of ['sh_', `sh_${'a'.repeat(43)}`, `${token}x`, token.slice(0, -1)])
    expect((await messages(id, bad)).json.error.code).toBe('invalid_api_key')
  await scene.app.sql`update shares set expires_at = now() - interval '1 second' where id = ${shareId}`
  expect((await messages(id, token)).json.error.code).toBe('token_expired')
  const gone = await share(id)
  await scene.call('DELETE', `${scene.sessions}/${id}`, undefined, key)
  expect((await messages(id, gone.token)).json.error.code).toBe('invalid_api_key')
})

verifies(
  'contract-31.share-secrets',
  'a client secret shares where the agent allows it, its own sessions alone',
  async () => {
    const [mine, others] = [await newSession({ user: 'bob' }), await newSession({ user: 'eve' })]
    const secret = bearer(await secretOf('bob'))
    const make = (id: string) => scene.call('POST', `${scene.sessions}/${id}/shares`, {}, secret)
    expect((await make(mine)).status).toBe(403)
    const list = `${scene.sessions}/${mine}/shares`
    expect((await scene.call('GET', list, undefined, secret)).status).toBe(403)
    const agent = await scene.call('PUT', scene.agent, { allowSharing: true })
    expect([agent.status, agent.json.allowSharing]).toEqual([200, true])
    const made = await make(mine)
    expect([made.status, (await make(others)).status]).toEqual([201, 404])
    await scene.call('PUT', scene.agent, { allowSharing: false })
    expect((await make(mine)).status).toBe(403)
    expect((await scene.call('DELETE', `${list}/${made.json.id}`, undefined, secret)).status).toBe(403)
    expect((await messages(mine, made.json.token)).status, 'it ends no share').toBe(200)
    await scene.call('POST', `${scene.agent}/deploy/users/bob/revoke`, undefined, key)
    expect((await messages(mine, made.json.token)).status, 'all of the user are revoked').toBe(401)
  },
)

verifies('contract-31.share-management', 'management makes, lists and revokes them in camel case', async () => {
  const id = await newSession()
  const shares = `${scene.agent}/playground/sessions/${id}/shares`
  const { status, json } = await scene.call('POST', shares, { live: true, expiresAt: null })
  expect([status, Object.keys(json).sort()]).toEqual([
    201,
    ['createdAt', 'expiresAt', 'id', 'include', 'live', 'path', 'token'],
  ])
  expect((await scene.call('GET', shares)).json.shares).toHaveLength(1)
  expect((await scene.call('DELETE', `${shares}/${json.id}`)).status).toBe(204)
  expect((await scene.call('DELETE', `${shares}/${json.id}`)).status).toBe(404)
  expect((await scene.call('POST', shares, { expires_at: null })).status).toBe(400)
})

verifies(
  'contract-31.share-streams',
  'a live share follows a reply without what is not shown, and ends with it',
  async () => {
    const id = await newSession()
    const { token, id: shareId } = await share(id, { live: true })
    const still = await share(id)
    const stream = (query = '', credential = token) =>
      openSse(`${scene.app.url}${scene.sessions}/${id}/chat/completions/stream${query}`, undefined, bearer(credential))
    const status = async (query: string, credential = token) =>
      (
        await scene.call(
          'GET',
          `${scene.sessions}/${id}/chat/completions/stream${query}`,
          undefined,
          bearer(credential),
        )
      ).status
    expect(await status('')).toBe(204)
    expect(await status('', still.token)).toBe(403)
    expect(await status(`?reply=${nobody}`)).toBe(404)
    const hand = scene.byHand()
    const sent = scene.send(id, 'Go', {}, key)
    const call = await hand
    await call.text('Hel')
    const following = await stream()
    expect(following.headers.get('cache-control')).toBe('no-cache, no-store, no-transform')
    while (!following.raw().includes('Hel')) await following.next()
    await scene.call('DELETE', `${scene.sessions}/${id}/shares/${shareId}`, undefined, key)
    expect((await following.rest()).broken).toBe(true)
    expect(following.raw()).not.toContain('[DONE]')
    await call.text('lo')
    await call.finish('stop')
    expect((await sent).json.choices[0].message.content, 'the reply runs on').toBe('Hello')
    scene.says(['Fine.'])
    const again = await share(id, { live: true })
    const whole = await stream('', again.token)
    await whole.rest()
    expect(whole.raw()).toContain('[DONE]')
    expect(whole.raw()).not.toMatch(/usage|test-model|gpt/)
  },
)
