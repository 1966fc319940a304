/** Limits in the statements of admission and settlement: what they count, and what they cost. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { LimitsInForce, NewMessage } from '../../../../src/actors/ports/index.ts'
import { contributions } from '../../../../src/compose/contributions.ts'
import { createLimitGate, tidyLimits } from '../../../../src/features/limits/store/limits.ts'
import { insertUsage } from '../../../../src/features/limits/store/usage/usage.ts'
import { connect, type Sql } from '../../../../src/persistence/postgres/database.ts'
import { createAdmissions } from '../../../../src/persistence/replies/admission/admission.ts'
import { usage } from '../../../persistence/replies/together-scene.ts'
import { finished, openScene, type Scene, versions } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const facts = (counts: object) => ({ providerId: randomUUID(), prompt: null, overrides: null, counts })
  const of = (id: string, limits: object): LimitsInForce => ({ key: { id, ...limits } })
  const sessions = (count: number) => Promise.all(Array.from({ length: count }, () => scene.newSession()))
  const outcomes = async (messages: readonly NewMessage[], journal = scene.journal) =>
    (await Promise.all(messages.map((message) => journal.admit(message)))).map(({ outcome }) => outcome).sort()
  const rows = async (table: string, subject: string) =>
    (await scene.sql`select 1 from ${scene.sql(table)} where subject = ${subject}`).length

  verifies(
    'contract-23.limits-exact',
    'messages of two instances at once, alone and together: as many as may',
    async () => {
      const other = await scene.another()
      const key = randomUUID()
      const messages = (await sessions(40)).map((id) =>
        scene.message(id, { limits: of(key, { requestsPerMinute: 7 }) }),
      )
      const answers = await Promise.all([outcomes(messages.slice(0, 20)), outcomes(messages.slice(20), other.journal)])
      const all = answers.flat()
      expect([all.filter((one) => one === 'admitted').length, all.filter((one) => one === 'limited').length]).toEqual([
        7, 33,
      ])
      expect(await rows('limit_requests', key)).toBe(7)
    },
  )

  verifies(
    'contract-23.limits-exact',
    'several subjects in other orders wait for each other without a deadlock',
    async () => {
      const other = await scene.another()
      const keys = [randomUUID(), randomUUID()]
      const sent = await Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          const limits = of(keys[n % 2] ?? '', { concurrentReplies: 100 })
          const [row] = await scene.sql<{ id: string }[]>`
          insert into sessions (agent_id, end_user) values (${scene.agentId}, ${`user-${n % 3}`}) returning id`
          return scene.message(row?.id ?? '', { limits: { ...limits, user: { requestsPerMinute: 100 } } })
        }),
      )
      const answers = await Promise.all([
        outcomes(sent.slice(0, 30)),
        outcomes(sent.slice(30).reverse(), other.journal),
      ])
      expect(new Set(answers.flat())).toEqual(new Set(['admitted']))
    },
  )

  verifies(
    'contract-23.limits-places',
    'a place is free once the reply is settled, or its session is gone',
    async () => {
      const key = randomUUID()
      const limits = of(key, { concurrentReplies: 1 })
      const [a = '', b = '', c = ''] = await sessions(3)
      const reply = await scene.begin(a, { limits })
      expect((await scene.journal.admit(scene.message(b, { limits }))).outcome).toBe('limited')
      await scene.journal.settle(reply, finished({ events: [] }))
      await scene.begin(b, { limits })
      expect((await scene.journal.admit(scene.message(c, { limits }))).outcome).toBe('limited')
      await scene.sql`delete from sessions where id = ${b}`
      await scene.begin(c, { limits })
      expect(await rows('limit_places', key)).toBe(1)
    },
  )

  verifies(
    'contract-23.limits-places',
    'a stateless reply’s place goes with its use, or with its instance',
    async () => {
      const { instance } = await scene.another()
      const gates = { here: createLimitGate(scene.sql, scene.instance), there: createLimitGate(scene.sql, instance) }
      const limits = of(randomUUID(), { concurrentReplies: 1 })
      const take = (gate: keyof typeof gates, replyId = randomUUID()) =>
        gates[gate].take({ replyId, agentId: scene.agentId, user: null, limits })
      const first = randomUUID()
      expect(await take('here', first)).toEqual({})
      expect((await take('there'))?.over).toMatchObject({ of: 'key', limit: 'concurrentReplies', most: 1 })
      const used = { id: first, agentId: scene.agentId, model: 'm', replies: 1 as const, endedAt: new Date(), usage }
      await insertUsage(scene.sql, [{ ...used, countsFor: { key: limits.key?.id ?? null, user: null } }])
      expect(await take('there')).toEqual({})
      expect((await take('here'))?.over).toBeDefined()
      await scene.sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
      expect(await take('here')).toEqual({})
      expect(await take('there')).toBe(null)
    },
  )

  verifies(
    'contract-23.limits-use',
    'the statement that settles counts tokens and cost, alone and together',
    async () => {
      const prices = { currency: '$', prices: [{ model: 'test-model', prompt: 1000, completion: 2000 }] }
      await scene.sql`insert into ui_settings values ('prices', ${JSON.stringify(prices)}::text::jsonb)
                    on conflict (name) do update set value = excluded.value`
      const key = randomUUID()
      const counts = facts({ key, user: true })
      const users = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const [row] = await scene.sql<{ id: string }[]>`
          insert into sessions (agent_id, end_user) values (${scene.agentId}, 'ann') returning id`
          return row?.id ?? ''
        }),
      )
      const replies = await Promise.all(users.map((id) => scene.begin(id, { facts: counts })))
      const end = finished({ outcome: { type: 'finished', reason: 'stop', usage }, events: [] })
      await Promise.all(replies.map((reply) => scene.journal.settle(reply, end)))
      await Promise.all(replies.map((reply) => scene.journal.settle(reply, end))) // the first outcome stays
      const used = async (subject: string) =>
        (
          await scene.sql`select sum(tokens)::integer as tokens, round(sum(cost)::numeric, 6)::float8 as cost
                         from limit_usage where subject = ${subject}`
        )[0]
      const expected = { tokens: 8 * 7, cost: 8 * 0.011 }
      expect([await used(key), await used(`${scene.agentId} ann`)]).toEqual([expected, expected])
      await tidyLimits(scene.sql)
      expect([await used(key), await rows('limit_usage', key)]).toEqual([expected, 1])
      const judged = (limits: object) =>
        createLimitGate(scene.sql, scene.instance).take({
          replyId: randomUUID(),
          agentId: scene.agentId,
          user: 'ann',
          limits: of(key, limits),
        })
      expect(await judged({ tokensPerDay: 57, costPerMonth: 0.089 })).toEqual({})
      const both = await judged({ tokensPerDay: 56, costPerMonth: 0.088 })
      const month = await judged({ costPerMonth: 0.088 })
      expect(month?.over).toMatchObject({ limit: 'costPerMonth', most: 0.088 })
      // The one that lasts longer is named. On the last day of a month both last as long.
      expect(both?.over?.wait).toBeGreaterThanOrEqual(month?.over?.wait ?? Number.NaN)
      const day = await judged({ tokensPerDay: 56 })
      expect(day?.over).toMatchObject({ limit: 'tokensPerDay', most: 56 })
      expect(day?.over?.wait).toBeLessThanOrEqual(86_400)
    },
  )

  verifies(
    'contract-23.limits-places',
    'a message that waits counts when it is sent, and has a place once it begins',
    async () => {
      const key = randomUUID()
      const limits = JSON.stringify(of(key, { requestsPerMinute: 2, concurrentReplies: 1 }))
      const judge = async (mode: string) => {
        const [row] = await scene.sql<{ answer: { over?: { limit: string } } }[]>`
        select judge_limits(${limits}::text::jsonb, ${scene.agentId}, null, ${randomUUID()}, ${mode}, null,
                            ${scene.instance.id}, ${scene.instance.epoch()}) as answer`
        return row?.answer.over?.limit ?? null
      }
      expect([await judge('take'), await judge('take')]).toEqual([null, 'concurrentReplies'])
      expect([await judge('count'), await judge('count')]).toEqual([null, 'requestsPerMinute'])
      expect([await judge('hold'), await rows('limit_places', key), await rows('limit_requests', key)]).toEqual([
        null,
        2,
        2,
      ])
      expect(await judge('look')).toBe('requestsPerMinute')
    },
  )

  verifies('contract-23.limits-use', 'another day’s tokens and another month’s cost do not count', async () => {
    const key = randomUUID()
    await scene.sql`
      insert into limit_usage (subject, day, tokens, cost)
      select ${key}, (clock_timestamp() at time zone 'UTC')::date - 40, 1000, 1000
       union all select ${key}, (clock_timestamp() at time zone 'UTC')::date + 1, 1000, 0`
    const gate = createLimitGate(scene.sql, scene.instance)
    const limits = of(key, { tokensPerDay: 1, costPerMonth: 1 })
    expect(await gate.take({ replyId: randomUUID(), agentId: scene.agentId, user: null, limits })).toEqual({})
  })

  verifies(
    'contract-23.limits-answers',
    'any 60 s: the oldest request must be a minute old before another passes',
    async () => {
      const key = randomUUID()
      const limits = of(key, { requestsPerMinute: 2 })
      const gate = createLimitGate(scene.sql, scene.instance)
      const take = () => gate.take({ replyId: randomUUID(), agentId: scene.agentId, user: null, limits })
      const age = (seconds: number) =>
        scene.sql`update limit_requests set at = at - make_interval(secs => ${seconds}) where subject = ${key}`
      expect((await take())?.rate).toEqual({ limit: 2, remaining: 1, reset: 60 })
      await age(40)
      expect((await take())?.rate).toEqual({ limit: 2, remaining: 0, reset: 60 })
      const over = await take()
      expect(over?.over?.wait).toBeGreaterThan(10)
      expect(over?.over?.wait).toBeLessThanOrEqual(20)
      await age(20)
      expect((await take())?.rate).toEqual({ limit: 2, remaining: 0, reset: 60 })
      expect((await take())?.over?.wait).toBeGreaterThan(20)
      expect(await rows('limit_requests', key)).toBe(2)
    },
  )

  verifies('contract-23.limits-use', 'what is used is folded by looking at each subject a few times', async () => {
    const count = 2000
    const use = (every: number, folded: boolean) => scene.sql`
      insert into limit_usage (subject, day, tokens, cost, folded)
      select 'many ' || n, (clock_timestamp() at time zone 'UTC')::date, 10, 1, ${folded}
        from generate_series(1, ${count}::integer) n where n % ${every}::integer = 0`
    await use(1, true)
    await use(2, false)
    await scene.sql`analyze limit_usage`
    const read = await scene.sql.begin(async (tx) => {
      await tidyLimits(tx)
      const [row] = await tx<{ read: number }[]>`
        select sum(seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables
         where relname in ('limit_usage', 'limit_subjects')`
      return row?.read ?? 0
    })
    const [rest] = await scene.sql<{ rows: number; tokens: number }[]>`
      select count(*)::integer as rows, sum(tokens)::integer as tokens from limit_usage
       where folded and starts_with(subject, 'many ')`
    expect(rest).toEqual({ rows: count, tokens: 15 * count })
    expect(read).toBeLessThan(12 * count)
  })

  verifies('contract-23.limits-cost', 'an admission is one statement, with limits as without', async () => {
    const counting = countStatements(connect(scene.database.url, { max: 1, name: 'counting', timeoutMs: 0 }))
    try {
      const admit = createAdmissions({
        sql: counting.sql,
        instance: scene.instance,
        contributions: contributions.admission,
        log: { warn() {} },
      })
      const [a = '', b = ''] = await sessions(2)
      const statements = async (work: () => Promise<unknown>) => {
        const before = counting.count()
        await work()
        return counting.count() - before
      }
      const limits = of(randomUUID(), { requestsPerMinute: 9, tokensPerDay: 9 })
      expect(await statements(() => admit(scene.message(a)))).toBe(1)
      expect(await statements(() => admit(scene.message(b, { limits })))).toBe(1)
      const gate = createLimitGate(counting.sql, scene.instance)
      const request = { agentId: scene.agentId, user: null, limits }
      const take = () => gate.take({ ...request, replyId: randomUUID() })
      expect(await statements(take)).toBe(1)
      // What comes while one is under way goes together.
      expect(await statements(() => Promise.all([take(), take(), take(), take()]))).toBe(2)
    } finally {
      await counting.end()
    }
  })
})

/** Counts what is sent to the server. */
function countStatements(real: Sql): { sql: Sql; count(): number; end(): Promise<void> } {
  let count = 0
  const sql = new Proxy(real, {
    apply(target, self, args) {
      count += 1
      return Reflect.apply(target, self, args)
    },
  })
  return { sql, count: () => count, end: () => real.end({ timeout: 1 }) }
}
