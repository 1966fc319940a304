/** Contract section 11: a user's sessions are deleted and exported. */
import { afterAll, expect } from 'vitest'
import { nobody } from '../../../http/scene.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, DEPLOY_KEY, openFrontDoor, say } from './front-door-scene.ts'

const scene = await openFrontDoor({ settings: {} })
afterAll(scene.close)

const user = (name: string, rest = '', agent?: string) =>
  `${scene.deploy(agent)}/users/${encodeURIComponent(name)}${rest}`
const countOf = async (name: string) =>
  (await scene.asKey('GET', `${scene.deploy()}/sessions?user=${encodeURIComponent(name)}`)).json.total

verifies('contract-11.delete-user', 'all sessions of the user with this agent go, and nobody else’s', async () => {
  const many = 1203 // more than two batches
  await scene.sql`
    insert into sessions (agent_id, end_user) select ${scene.agentId}, 'gone' from generate_series(1, ${many})`
  const elsewhere = await scene.newAgent()
  const kept = [await scene.session('stays'), await scene.session(null), await scene.session('gone', elsewhere)]
  const secret = await scene.secret('gone')
  expect(await countOf('gone')).toBe(many)
  expect((await scene.asKey('DELETE', user('gone'))).status).toBe(204)
  expect(await countOf('gone')).toBe(0)
  const left = await scene.sql<{ id: string }[]>`select id from sessions`
  expect(new Set(left.map(({ id }) => id))).toEqual(new Set(kept))
  const refused = await scene.as(secret, 'GET', `${scene.deploy()}/sessions`)
  expect([refused.status, refused.json.error.code]).toEqual([401, 'token_revoked'])
  expect((await scene.as(await scene.secret('gone'), 'GET', `${scene.deploy()}/sessions`)).json.total).toBe(0)
})

verifies('contract-11.delete-user', 'what runs ends as in a deleted session, wherever it runs', async () => {
  const session = await scene.session('running')
  const playing = scene.byHand()
  const stream = await openSse(
    `${scene.there.url}${scene.deploy()}/sessions/${session}/chat/completions`,
    say('hi', { stream: true }),
    bearer(DEPLOY_KEY),
  )
  await (await playing).text('some')
  await stream.next()
  expect((await scene.asKey('DELETE', user('running'))).status).toBe(204)
  const { frames, broken } = await stream.rest()
  expect([broken, JSON.parse(frames.at(-1)?.data ?? '').error.code]).toEqual([false, 'session_deleted'])
})

verifies(
  'contract-11.delete-user',
  'no revoked secret leaves a session behind, on an instance that has not heard of it',
  async () => {
    const sessions = `${scene.deploy()}/sessions`
    for (let round = 0; round < 5; round++) {
      const name = `racing ${round}`
      const secret = await scene.secret(name)
      const answers: Promise<{ status: number }>[] = []
      const make = () => answers.push(scene.as(secret, 'POST', sessions, {}, scene.there))
      for (let n = 0; n < 10; n++) make()
      const deleting = scene.asKey('DELETE', user(name))
      for (let n = 0; n < 10; n++) make()
      expect((await deleting).status).toBe(204)
      for (let n = 0; n < 10; n++) make()
      const statuses = (await Promise.all(answers)).map(({ status }) => status)
      expect(statuses.every((status) => status === 201 || status === 401)).toBe(true)
      expect(statuses.slice(20)).toEqual(Array(10).fill(401))
      expect(await countOf(name)).toBe(0)
    }
  },
)

verifies(
  'contract-11.delete-user',
  'a session that is being made in the very moment is waited for, and goes',
  async () => {
    const secret = await scene.secret('slow')
    const number = Number(JSON.parse(Buffer.from(secret.split('.')[1] ?? '', 'base64url').toString()).number)
    const deleting: ReturnType<typeof scene.asKey>[] = []
    await scene.sql.begin(async (tx) => {
      await tx`select check_client_secret(${scene.agentId}, 'slow', ${number})`
      await tx`insert into sessions (agent_id, end_user) values (${scene.agentId}, 'slow')`
      deleting.push(scene.asKey('DELETE', user('slow')))
      await expect
        .poll(async () => (await scene.sql`select 1 from pg_locks where locktype = 'advisory' and not granted`).length)
        .toBe(1)
    })
    expect((await deleting[0])?.status).toBe(204)
    expect(await countOf('slow')).toBe(0)
  },
)

verifies('contract-11.export-user', 'one line a session, its record with its messages, oldest first', async () => {
  scene.says('an ', 'answer')
  const made = []
  for (const title of ['first', 'second', null]) {
    const { json } = await scene.asKey('POST', `${scene.deploy()}/sessions`, {
      user: 'ex/port ü',
      title,
      metadata: { a: 'b' },
    })
    made.push(json)
  }
  await scene.asKey('POST', `${scene.deploy()}/sessions/${made[1].id}/chat/completions`, say('a question'))
  await scene.session('another')
  const answer = await scene.asKey('GET', user('ex/port ü', '/export'))
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  expect(answer.text.endsWith('\n')).toBe(true)
  const lines = answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ id }) => id)).toEqual(made.map(({ id }) => id))
  for (const { messages, ...record } of lines) {
    const path = `${scene.deploy()}/sessions/${record.id}`
    expect(record).toEqual((await scene.asKey('GET', path)).json)
    expect(messages).toEqual((await scene.asKey('GET', `${path}/messages`)).json.messages)
  }
  expect(lines[1].messages.map(({ content }: { content: string }) => content)).toEqual(['a question', 'an answer'])
})

verifies(
  'contract-11.export-user',
  'hundreds of sessions come whole; an unknown user is no line, an unknown agent 404',
  async () => {
    await scene.sql`
    insert into sessions (agent_id, end_user) select ${scene.agentId}, 'many' from generate_series(1, 250)`
    const { text } = await scene.asKey('GET', user('many', '/export'))
    const ids = new Set(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    )
    expect(ids.size).toBe(250)
    const none = await scene.asKey('GET', user('nobody at all', '/export'))
    expect([none.status, none.text]).toEqual([200, ''])
    for (const agent of [nobody, 'no-uuid']) {
      for (const [method, rest] of [
        ['GET', '/export'],
        ['DELETE', ''],
      ] as const) {
        const answer = await scene.asKey(method, user('x', rest, agent))
        expect([answer.status, answer.json]).toEqual([404, { error: expect.stringMatching(/^There is no such agent/) }])
      }
    }
  },
)
