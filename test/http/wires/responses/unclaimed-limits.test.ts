/** Conversations of no agent: how many a key may have, and how large one may be (contract sections 26 and 35). */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { itemsFrom } from '../../../../src/http/wires/responses/unclaimed-conversations.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { verifies } from '../../../verifies.ts'
import { call } from '../../scene.ts'
import { openResponsesScene } from './responses-scene.ts'

// Leases are not the subject: a busy machine must not lose one.
const settings = { MAX_USER_SESSIONS: '3', OWNER_LEASE_MS: '60000' }
const scene = await openResponsesScene({ settings })
afterAll(scene.close)
const database = { url: scene.app.databaseUrl, sql: scene.app.sql, drop: async () => {} }
const there = await startTestApp({ settings, database })
afterAll(() => there.stop())

const path = '/api/v1/openai/conversations'
const make = (app: TestApp = scene.app, key?: string) =>
  call(`${app.url}${path}`, 'POST', {}, key === undefined ? {} : { authorization: `Bearer ${key}` })
let other = ''
beforeAll(async () => {
  const agent = { name: 'Other', providerId: scene.providerId, model: 'm' }
  other = (await scene.call('POST', '/api/v1/agents', agent)).json.id
})

verifies(
  'contract-35.user-sessions',
  'a key has as many conversations of no agent, also of those that are made together on two instances',
  async () => {
    const made = await Promise.all(Array.from({ length: 12 }, (_, n) => make(n % 2 ? scene.app : there)))
    const passed = made.filter(({ status }) => status === 200)
    const refused = made.filter(({ status }) => status === 429)
    expect([passed.length, refused.length]).toEqual([3, 9])
    expect(refused[0]?.json.error).toMatchObject({
      message: expect.stringContaining('MAX_USER_SESSIONS'),
      code: 'too_many_sessions',
    })
    expect(refused[0]?.headers.get('x-should-retry')).toBe('false')

    const { key } = (await scene.call('POST', '/api/v1/keys', { name: 'K', scopes: ['deploy'] })).json
    expect((await make(scene.app, key)).status).toBe(200)

    const [deleted, used] = passed.map(({ json }) => json.id)
    await scene.call('DELETE', `${path}/${deleted}`)
    expect([(await make()).status, (await make()).status]).toEqual([200, 429])
    scene.says(['Hello.'])
    const response = { model: other, conversation: used, input: 'Hi' }
    expect((await scene.call('POST', '/api/v1/openai/responses', response)).status).toBe(200)
    expect([(await make()).status, (await make()).status]).toEqual([200, 429])
    await scene.app.sql`delete from unclaimed_conversations`
    const { promise, resolve } = Promise.withResolvers<number>()
    await scene.app.sql.begin(async (tx) => {
      for (let n = 0; n < 3; n++) await tx`select from add_unclaimed(gen_random_uuid(), '{}', '[]', '', 3)`
      let isOver = false
      void make().then(({ status }) => {
        isOver = true
        resolve(status)
      })
      // It waits for those that are being made, and is not answered before.
      const waits = async () =>
        isOver || (await tx`select from pg_locks where locktype = 'advisory' and not granted`).length > 0
      await expect.poll(waits).toBe(true)
    })
    expect(await promise).toBe(429)

    for (const [days, status] of [
      [29, 429],
      [2, 200],
    ] as const) {
      await scene.app.sql`update unclaimed_conversations set created_at = created_at - make_interval(days => ${days})`
      expect([days, (await make()).status]).toEqual([days, status])
    }
  },
)

verifies('contract-26.cost-of-bytes', 'one of no agent holds 4 MiB: each request reads all of it', async () => {
  await scene.app.sql`delete from unclaimed_conversations`
  const { id } = (await make()).json
  const give = (content: string) =>
    scene.call('POST', `${path}/${id}/items`, { items: [{ type: 'message', role: 'user', content }] })
  const mebibyte = 'x'.repeat(2 ** 20)
  for (let n = 0; n < 3; n++) expect((await give(mebibyte)).status).toBe(200)
  const refused = await give(mebibyte)
  expect([refused.status, refused.json.error.message]).toEqual([
    413,
    expect.stringContaining('send the agent as model'),
  ])
  expect((await give('x')).status).toBe(200)
})

verifies(
  'contract-26.cost-of-bytes',
  'its items are made in pieces, with the turns of others between them',
  async () => {
    const messages = Array.from({ length: 4000 }, () => ({ id: randomUUID(), role: 'user' as const, content: 'x' }))
    for (const order of ['asc', 'desc'] as const) {
      let turns = 0
      let isOver = false
      const others = (async () => {
        for (; !isOver; turns += 1) await setImmediate()
      })()
      const ids: string[] = []
      for await (const { id } of itemsFrom({ messages }, order)) ids.push(id)
      isOver = true
      await others
      expect(ids).toHaveLength(4000)
      expect(turns).toBeGreaterThan(15)
    }
  },
)
