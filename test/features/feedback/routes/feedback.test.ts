/** Contract section 28, feedback. */
import { afterAll, beforeAll, expect } from 'vitest'
import { nobody } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, DEPLOY_KEY, type FrontDoor, openFrontDoor } from '../../users/access/front-door-scene.ts'

let door: FrontDoor
beforeAll(async () => {
  door = await openFrontDoor({ instances: 1, settings: { MAX_SESSION_BYTES: '1000000' } })
  door.says('ok')
})
afterAll(() => door.close())

const say = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more })

/** A session of a user with one reply, of an agent of its own. */
async function answered() {
  const agentId = await door.newAgent()
  const deploy = door.deploy(agentId)
  const session: string = (await door.asKey('POST', `${deploy}/sessions`, { user: 'ann' })).json.id
  await door.asKey('POST', `${deploy}/sessions/${session}/chat/completions`, say('a'))
  const path = `${deploy}/sessions/${session}/messages`
  const read = async () => (await door.asKey('GET', path)).json.messages
  const [question, reply] = await read()
  const play = `/api/v1/agents/${agentId}/playground/sessions/${session}/messages`
  return {
    ...{ agentId, deploy, session, path, question, reply, play },
    feedback: `${path}/${reply.id}/feedback`,
    reply_: async () => (await read())[1],
    shown: async () => (await door.asKey('GET', play)).json.messages[1].feedback,
  }
}

verifies(
  'contract-28.feedback',
  'a second PUT replaces it, each login has its own, and DELETE takes it back',
  async () => {
    const one = await answered()
    const first = await door.asKey('PUT', one.feedback, { score: 1, comment: 'Nice.' })
    expect(first.json).toEqual({
      ...{ score: 1, comment: 'Nice.' },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    })
    const second = await door.asKey('PUT', one.feedback, { score: -1 })
    expect(second.json).toMatchObject({ score: -1, comment: null, created_at: first.json.created_at })
    expect((await one.reply_()).feedback).toEqual(second.json)
    const own = `${one.play}/${one.reply.id}/feedback`
    expect((await door.asKey('PUT', own, { score: 1 })).json).toMatchObject({ score: 1, comment: null })
    const [user, login] = await one.shown()
    expect(user).toMatchObject({ by: 'user', name: 'ann', score: -1 })
    expect(login).toMatchObject({ by: 'login', name: null, score: 1, createdAt: expect.any(String) })
    const keys: string[] = []
    for (const [name, score] of [
      ['north', 1],
      ['south', -1],
    ] as const) {
      const { json: key } = await door.asKey('POST', '/api/v1/keys', { name, scopes: ['management'] })
      keys.push(key.key)
      expect((await door.as(key.key, 'PUT', own, { score })).status).toBe(200)
    }
    const names = (await one.shown()).map(({ by, name, score }: Record<string, unknown>) => [by, name, score])
    expect(names).toEqual(
      expect.arrayContaining([
        ['login', 'north', 1],
        ['login', 'south', -1],
      ]),
    )
    expect((await one.reply_()).feedback.score).toBe(-1)
    const exported = await door.asKey('GET', `${one.deploy}/users/ann/export`)
    expect(exported.text).toContain('"feedback":{"score":-1')
    for (const _ of ['there', 'gone']) expect((await door.asKey('DELETE', one.feedback)).status).toBe(204)
    expect(await one.reply_()).not.toHaveProperty('feedback')
    for (const key of [DEPLOY_KEY, ...keys]) expect((await door.as(key, 'DELETE', own)).status).toBe(204)
    expect(await one.shown()).toBeUndefined()
    await door.asKey('PUT', one.feedback, { score: 1 })
    const fork = await door.asKey('POST', `${one.deploy}/sessions`, { fork_of: { session_id: one.session } })
    const copied = (await door.asKey('GET', `${one.deploy}/sessions/${fork.json.id}/messages`)).json.messages
    expect(copied[1]).not.toHaveProperty('feedback')
    expect((await door.asKey('DELETE', `${one.deploy}/sessions/${one.session}`)).status).toBe(204)
    expect(await door.sql`select 1 from feedback where session_id = ${one.session}`).toHaveLength(0)
  },
)

verifies('contract-28.feedback-refused', 'each of these has its status', async () => {
  const one = await answered()
  const other = await answered()
  const put = async (id: string, body: object = { score: 1 }) =>
    (await door.asKey('PUT', `${one.path}/${id}/feedback`, body)).status
  expect(await put(one.question.id)).toBe(400)
  expect(await put(nobody)).toBe(404)
  expect(await put('x')).toBe(404)
  expect(await put(other.reply.id)).toBe(404)
  for (const body of [{ score: 0 }, { score: 2 }, { score: '1' }, {}, { score: 1, comment: '' }, { score: 1, x: 1 }])
    expect([body, await put(one.reply.id, body)]).toEqual([body, 400])
  expect(await put(one.reply.id, { score: 1, comment: 'x'.repeat(2001) })).toBe(400)
  const call = door.byHand()
  const running = door.asKey('POST', `${one.deploy}/sessions/${one.session}/chat/completions`, say('b'))
  const open = await call
  const streaming = (await door.asKey('GET', one.path)).json.messages.at(-1)
  expect([streaming.status, await put(streaming.id)]).toEqual(['streaming', 409])
  await open.text('b')
  await open.finish()
  await running
  door.says('ok')
  const [mine, foreign] = [await door.secret('ann', {}, one.agentId), await door.secret('bob', {}, one.agentId)]
  expect((await door.as(mine, 'PUT', one.feedback, { score: 1 })).status).toBe(200)
  expect((await door.as(foreign, 'PUT', one.feedback, { score: 1 })).status).toBe(404)
  expect((await door.as(foreign, 'DELETE', one.feedback)).status).toBe(404)
})

verifies(['contract-28.feedback-told', 'contract-28.usage'], 'lists, usage and webhooks tell of it', async () => {
  const one = await answered()
  const hook = { name: one.agentId, url: 'http://127.0.0.1:1/', events: ['feedback.created'], agentIds: [one.agentId] }
  const { id } = (await door.asKey('POST', '/api/v1/webhooks', hook)).json
  await door.asKey('PUT', one.feedback, { score: -1, comment: 'Wrong.' })
  await door.asKey('PUT', one.feedback, { score: -1, comment: 'Wrong.' })
  const bodies = await door.sql<{ body: string }[]>`select body from webhook_deliveries where webhook_id = ${id}`
  expect(bodies.map(({ body }) => JSON.parse(body))).toEqual([
    {
      type: 'feedback.created',
      timestamp: expect.any(String),
      data: {
        ...{ agent_id: one.agentId, session_id: one.session, message_id: one.reply.id, user: 'ann', metadata: {} },
        ...{ by: 'user', score: -1, agent_version: 1 },
      },
    },
  ])
  const listed = async (kind: string) => {
    const { status, json } = await door.asKey('GET', `/api/v1/sessions?agentId=${one.agentId}&feedback=${kind}`)
    return status === 200 ? json.sessions.length : status
  }
  expect([await listed('down'), await listed('any'), await listed('up'), await listed('x')]).toEqual([1, 1, 0, 400])
  await door.asKey('POST', `${one.deploy}/chat/completions`, say('stateless'))
  const usage = async (query: string) => (await door.asKey('GET', `/api/v1/usage?${query}`)).json
  const { rows } = await usage(`groupBy=version&agentId=${one.agentId}`)
  expect(rows).toEqual([expect.objectContaining({ key: '1', replies: 2, feedbackUp: 0, feedbackDown: 1 })])
  const ofAgent = (await usage('')).rows.find(({ key }: { key: string }) => key === one.agentId)
  expect(ofAgent).toMatchObject({ replies: 2, feedbackDown: 1 })
  for (const query of [
    'groupBy=version',
    `agentId=${one.agentId}`,
    `groupBy=model&agentId=${one.agentId}`,
    'groupBy=version&agentId=x',
  ])
    expect([query, (await door.asKey('GET', `/api/v1/usage?${query}`)).status]).toEqual([query, 400])
})

verifies(
  'contract-28.feedback-quiet',
  'it updates no session, and what a secret stores anew counts alone',
  async () => {
    const one = await answered()
    await door.asKey('PUT', `/api/v1/agents/${one.agentId}`, { userLimits: { requestsPerMinute: 2 } })
    const stamp = async () => (await door.asKey('GET', `${one.deploy}/sessions/${one.session}`)).json.updated_at
    const before = await stamp()
    const entries = async () => (await door.asKey('GET', '/api/v1/audit')).json.total
    const audited = await entries()
    for (const comment of ['a', 'b', 'c', 'd'])
      expect((await door.asKey('PUT', one.feedback, { score: 1, comment })).status).toBe(200)
    const secret = await door.secret('ann', {}, one.agentId)
    const put = async (comment: string) => (await door.as(secret, 'PUT', one.feedback, { score: 1, comment })).status
    expect([await put('d'), await put('d'), await put('e'), await put('e'), await put('f'), await put('g')]).toEqual([
      ...[200, 200, 200, 200],
      ...[200, 429],
    ])
    expect([await stamp(), await entries()]).toEqual([before, audited])
    const preflight = await fetch(`${door.here.url}${one.feedback}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-method': 'PUT' },
    })
    expect(preflight.status).toBeLessThan(500)
    await door.asKey('PUT', `/api/v1/agents/${one.agentId}`, { allowedOrigins: ['https://page.example'] })
    const allowed = await fetch(`${door.here.url}${one.feedback}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-method': 'PUT', ...bearer('') },
    })
    expect(allowed.headers.get('access-control-allow-methods')).toContain('PUT')
  },
)

verifies('contract-28.feedback', 'its comment counts in the bytes of the session while it is there', async () => {
  const one = await answered()
  const bytes = async () => {
    const [row] = await door.sql<{ bytes: number }[]>`
      select coalesce(bytes, session_bytes(id))::integer as bytes from sessions where id = ${one.session}`
    return row?.bytes ?? 0
  }
  await door.asKey('PUT', one.feedback, { score: 1 })
  const before = await bytes()
  await door.asKey('PUT', one.feedback, { score: 1, comment: 'Nüsse' })
  expect(await bytes()).toBe(before + 6)
  await door.asKey('PUT', one.feedback, { score: 1, comment: 'Nut' })
  expect(await bytes()).toBe(before + 3)
  await door.asKey('DELETE', one.feedback)
  expect(await bytes()).toBe(before)
})

verifies('contract-28.feedback', 'it counts for the model that answered, not for the one that was asked', async () => {
  const one = await answered()
  await door.sql`update token_usage set model = 'fallback' where id = ${one.reply.id}`
  await door.asKey('PUT', one.feedback, { score: 1 })
  expect(await door.sql`select model from feedback where message_id = ${one.reply.id}`).toEqual([{ model: 'fallback' }])
})
