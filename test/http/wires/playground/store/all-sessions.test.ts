/** The sessions of all agents, and the status that they carry. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { Settlement } from '../../../../../src/actors/ports/index.ts'
import {
  countSessions,
  listAllSessions,
  type OverviewFilters,
  type OverviewQuery,
} from '../../../../../src/http/wires/playground/store/all-sessions.ts'
import { newestReplies, type ReplyFilter } from '../../../../../src/http/wires/playground/store/reply-filter.ts'
import { failed, finished, newAgent, openScene, type Scene, versions } from '../../../../persistence/scene.ts'
import { verifies } from '../../../../verifies.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const list = (query: Partial<OverviewQuery> = {}) => listAllSessions(scene.sql, { limit: 20, offset: 0, ...query })
  const idsOf = async (query: Partial<OverviewQuery>) => (await list(query)).items.map(({ id }) => id)
  const statusOf = async (id: string) => {
    const [found] = (await list({ q: id })).items
    return found && [found.status, found.errorCode]
  }
  const titled = async (title: string, agentId = scene.agentId, id: string | null = null): Promise<string> => {
    const [row] = await scene.sql<{ id: string }[]>`
      insert into sessions (id, agent_id, title, end_user)
      values (coalesce(${id}::uuid, gen_random_uuid()), ${agentId}, ${title}, 'ada') returning id`
    return row?.id ?? ''
  }

  verifies('contract-16.session-status', 'a session has the status of its newest reply', async () => {
    const id = await scene.newSession()
    expect(await statusOf(id)).toEqual(['idle', null])
    const first = await scene.begin(id)
    expect(await statusOf(id)).toEqual(['streaming', null])
    await scene.journal.settle(first, failed())
    const [status, code] = (await statusOf(id)) ?? []
    expect(status).toBe('error')
    expect(code).toEqual(expect.any(String))
    expect(await idsOf({ errorCode: `${code}`, status: 'error', agentId: scene.agentId })).toContain(id)
    const second = await scene.begin(id)
    const cancelled = finished({
      outcome: {
        type: 'finished',
        reason: 'cancelled',
        usage: { promptTokens: 1, completionTokens: 1, estimated: false },
      },
    })
    expect(await statusOf(id)).toEqual(['streaming', null])
    await scene.journal.settle(second, cancelled)
    expect(await statusOf(id)).toEqual(['cancelled', null])
    await scene.journal.settle(await scene.begin(id), finished())
    expect(await statusOf(id)).toEqual(['complete', null])
  })

  verifies('contract-16.all-sessions', 'q is a part of a title, without case, or the beginning of an id', async () => {
    const other = await newAgent(scene.sql)
    const id = 'deadbeef-0000-4000-8000-00000000abcd'
    const [byId, byTitle] = [await titled('Ärger mit %_ ZEICHEN', other, id), await titled('About DEADBEEF-0000 again')]
    for (const q of ['deadbeef', 'DEADBEEF-0', 'deadbeef-0000']) expect(await idsOf({ q })).toEqual([byTitle, byId])
    expect(await idsOf({ q: id })).toEqual([byId])
    expect(await idsOf({ q: `${id}0` })).toEqual([])
    expect(await idsOf({ q: 'eadbeef-00' })).toEqual([byTitle])
    for (const q of ['äRGER', '%_ z', 'zeichen']) expect(await idsOf({ q })).toEqual([byId])
    expect(await idsOf({ q: 'deadbeef', agentId: other })).toEqual([byId])
    expect(await idsOf({ q: 'deadbeef', user: 'ada', status: 'idle' })).toEqual([byTitle, byId])
    expect(await idsOf({ q: 'deadbeef', user: 'bob' })).toEqual([])
    expect(await idsOf({ agentId: 'not-a-uuid' })).toEqual([])
  })

  verifies('contract-16.all-sessions', 'sessions are counted up to 10,000', async () => {
    const agentId = await newAgent(scene.sql)
    const add = (count: number) => scene.sql`
      insert into sessions (agent_id, title) select ${agentId}, 'Many ' || i from generate_series(1, ${count}::integer) i`
    await add(10_000)
    for (const query of [{}, { q: 'MANY' }]) {
      expect(await list({ agentId, ...query })).toMatchObject({ total: 10_000, more: false })
    }
    await add(1)
    for (const query of [{}, { q: 'MANY' }]) {
      const { total, more, items } = await list({ agentId, ...query, offset: 9_990 })
      expect({ total, more, shown: items.length }).toEqual({ total: 10_000, more: true, shown: 11 })
    }
  })

  verifies(
    'contract-16.all-sessions',
    'sessions are found by time, and by what their replies and messages say',
    async () => {
      const agentId = await newAgent(scene.sql)
      const [vendor, fallback] = [randomUUID(), randomUUID()]
      const say = async (text: string, settlement: Settlement) => {
        const [row] = await scene.sql<
          { id: string }[]
        >`insert into sessions (agent_id) values (${agentId}) returning id`
        const id = row?.id ?? ''
        const facts = { providerId: vendor, prompt: null, overrides: null }
        await scene.journal.settle(await scene.begin(id, { agentId, text, facts }), settlement)
        return id
      }
      const figures = { firstTokenMs: null, durationMs: 5, attempts: 1 }
      const changed = { seq: 1, part: 1, event: { type: 'model', model: 'other', providerId: fallback } } as const
      const fine = await say('A refund, please', finished({ figures: { ...figures, durationMs: 7 } }))
      const refused = await say('Ärger', failed({ figures: { ...figures, providerStatus: 429 } }))
      const fellBack = await say('Once more', failed({ figures, events: [changed] }))
      const by = (replies: ReplyFilter, more: Partial<OverviewQuery> = {}) => idsOf({ agentId, replies, ...more })
      expect(await by({ httpStatus: 429 })).toEqual([refused])
      expect(await by({ httpStatus: 500 })).toEqual([])
      expect(await by({ providerId: vendor })).toEqual([refused, fine])
      expect(await by({ providerId: fallback })).toEqual([fellBack])
      expect(await by({ text: 'REFUND' })).toEqual([fine])
      expect(await by({ text: 'ärger', providerId: vendor }, { status: 'error' })).toEqual([refused])
      expect(await by({ text: 'refund' }, { status: 'error' })).toEqual([])
      expect(await by({ text: 'r' }, { limit: 1, offset: 1 })).toEqual([refused])

      await scene.sql`update sessions set updated_at = '2020-01-02T00:00:00Z' where id = ${fine}`
      const [from, to] = [new Date('2020-01-02T00:00:00Z'), new Date('2020-01-03T00:00:00Z')]
      expect(await idsOf({ agentId, from, to })).toEqual([fine])
      expect(await idsOf({ agentId, to: from })).toEqual([])
      expect(await idsOf({ agentId, from: to })).toEqual([fellBack, refused])

      const counts = async (query: OverviewFilters) =>
        Object.fromEntries(
          (await countSessions(scene.sql, { agentId, ...query })).map((one) => [one.status, one.count]),
        )
      const none = { idle: 0, streaming: 0, waiting: 0, cancelled: 0 }
      expect(await counts({ status: 'idle' })).toEqual({ ...none, complete: 1, error: 2 })
      expect(await counts({ from: to })).toEqual({ ...none, complete: 0, error: 2 })
      expect(await counts({ replies: { httpStatus: 429 } })).toEqual({ error: 1 })
      expect(await counts({ q: fine })).toEqual({ complete: 1 })
      expect(await newestReplies(scene.sql, [refused])).toEqual([
        { sessionId: refused, providerId: vendor, model: 'test-model', httpStatus: 429, durationMs: 5, tokens: 7 },
      ])
    },
  )

  verifies(
    'contract-16.all-sessions',
    'of more ids with one beginning than are counted, the newest come first',
    async () => {
      const agentId = await newAgent(scene.sql)
      await scene.sql`
      insert into sessions (id, agent_id, title, updated_at)
      select ('feedf00d-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, ${agentId}, 'Burst ' || i,
             timestamptz '2020-01-01' + interval '1 s' * i
        from generate_series(1, 10001) i`
      const named = await titled('What is feedf00d?')
      const last = ['Burst 10001', 'Burst 10000', 'Burst 9999']
      const titles = async (query: Partial<OverviewQuery>) => (await list(query)).items.map(({ title }) => title)
      // Older than as many others, and the newest of their agent.
      expect(await titles({ q: 'FEEDF00D', limit: 4 })).toEqual(['What is feedf00d?', ...last])
      expect(await titles({ q: 'feedf00d-', agentId, limit: 3 })).toEqual(last)
      expect(await titles({ q: 'feedf00d-0000', agentId, limit: 3, offset: 9_999 })).toEqual(['Burst 2', 'Burst 1'])
      expect(await list({ q: 'feedf00d' })).toMatchObject({ total: 10_000, more: true })
      await scene.sql`update sessions set status = 'error' where id = ${named} or title = 'Burst 7'`
      expect(await titles({ q: 'feedf00d', status: 'error' })).toEqual(['What is feedf00d?', 'Burst 7'])
      expect(await list({ q: 'feedf00d', status: 'error' })).toMatchObject({ total: 2, more: false })
    },
  )
})
