/** The judgement of a request: what refuses it, what it is told of its limits, and the prices of tokens. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { tidyLimits } from '../../../../src/features/limits/store/limits.ts'
import { openScene, type Scene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

verifies('contract-23.limits-exact', 'with one place a message takes that of the reply it interrupts', async () => {
  await using scene = await openScene()
  const limits = { key: { id: randomUUID(), concurrentReplies: 1 } }
  const reply = await scene.begin(await scene.newSession(), { limits })
  const overBeside = async (beside: string | null) => {
    const [row] = await scene.sql`
      select judge_limits(${scene.sql.json(limits)}, ${randomUUID()}::uuid, null, ${randomUUID()}::uuid, 'look',
                          ${beside}::uuid, null, null) -> 'over' ->> 'limit' as over`
    return row?.over
  }
  expect(await overBeside(null)).toBe('concurrentReplies')
  expect(await overBeside(reply.id)).toBeNull()
})

verifies('contract-23.limits-cost', 'written and cached tokens cost their own price where one is set', async () => {
  await using scene = await openScene()
  const prices = [
    { model: 'with', prompt: 1, completion: 0, cachedPrompt: 0.1, cacheWrite: 3 },
    { model: 'without', prompt: 1, completion: 0 },
  ]
  await scene.sql`
    insert into ui_settings (name, value) values ('prices', ${scene.sql.json({ prices })})
    on conflict (name) do update set value = excluded.value`
  const [row] = await scene.sql`
    select cost_of('with', 100, 0, 0, 10)::float8 as with, cost_of('without', 100, 0, 0, 10)::float8 as without,
           cost_of('with', 100, 0, 50, 0)::float8 as cached, cost_of('without', 100, 0, 50, 0)::float8 as uncached`
  expect(row).toEqual({ with: 0.00012, without: 0.0001, cached: 0.000055, uncached: 0.0001 })
})

interface Judged {
  over?: { of: string; limit: string; wait: number }
  rate?: { limit: number; remaining: number; reset: number }
}

/** Looks at the limits of a key and of `user`, of whom these requests were counted, so many seconds ago. */
async function judge(
  { sql, agentId }: Scene,
  limits: Record<string, Record<string, number>>,
  ages: Record<string, number[]>,
) {
  const subjects = { key: `0000${randomUUID().slice(4)}`, user: `${agentId} ${randomUUID()}` }
  for (const [kind, subject] of Object.entries(subjects)) {
    const counted = ages[kind] ?? []
    await sql`insert into limit_subjects (subject, requests) values (${subject}, ${counted.length})`
    for (const [index, age] of counted.entries()) {
      await sql`
        insert into limit_requests (subject, n, at)
        values (${subject}, ${index + 1}, clock_timestamp() - make_interval(secs => ${age}))`
    }
    await sql`
      insert into limit_usage (subject, day, tokens, cost)
      values (${subject}, (clock_timestamp() at time zone 'UTC')::date, 10, 2)`
  }
  const [row] = await sql<{ judged: Judged }[]>`
    select judge_limits(${sql.json({ ...limits, ...(limits.key && { key: { id: subjects.key, ...limits.key } }) })},
                        ${agentId}::uuid, ${subjects.user.slice(agentId.length + 1)}, ${randomUUID()}::uuid, 'look',
                        null, null, null) as judged`
  return row?.judged ?? {}
}

verifies(
  'contract-23.limits-use',
  'tokens and cost refuse from the moment at which they reach their limit',
  async () => {
    await using scene = await openScene()
    const overOf = async (key: Record<string, number>) => (await judge(scene, { key }, {})).over?.limit
    expect([await overOf({ tokensPerDay: 10 }), await overOf({ tokensPerDay: 11 })]).toEqual([
      'tokensPerDay',
      undefined,
    ])
    expect([await overOf({ costPerMonth: 2 }), await overOf({ costPerMonth: 2.1 })]).toEqual([
      'costPerMonth',
      undefined,
    ])
  },
)

verifies(
  'contract-23.limits-answers',
  'of several limits the one with the fewest left is told, or the longest wait',
  async () => {
    await using scene = await openScene()
    const [few, many] = [{ requestsPerMinute: 3 }, { requestsPerMinute: 9 }]
    const ages = { key: [40, 10], user: [40, 10] }
    for (const limits of [
      { key: few, user: many },
      { key: many, user: few },
    ]) {
      const { rate } = await judge(scene, limits, ages)
      expect(rate).toMatchObject({ limit: 3, remaining: 1 })
      // When all are there again: a minute after the newest.
      expect(rate?.reset).toBeGreaterThan(40)
    }
    const one = { requestsPerMinute: 1 }
    for (const [key, user] of [
      [[50], [5]],
      [[5], [50]],
    ] as const) {
      const { over } = await judge(scene, { key: one, user: one }, { key: [...key], user: [...user] })
      expect([over?.of, (over?.wait ?? 0) > 40]).toEqual([key[0] === 5 ? 'key' : 'user', true])
    }
  },
)

verifies(
  'contract-23.limits-answers',
  'below a limit that was lowered so many must be a minute old that one may pass',
  async () => {
    await using scene = await openScene()
    const { over } = await judge(scene, { key: { requestsPerMinute: 2 } }, { key: [50, 30, 10] })
    expect(over?.wait).toBeGreaterThan(20)
    expect(over?.wait).toBeLessThanOrEqual(30)
  },
)

verifies(
  'contract-23.limits-exact',
  'what is tidied away is over: a request of the last minute stays counted',
  async () => {
    await using scene = await openScene()
    const { sql } = scene
    const key = randomUUID()
    await sql`insert into limit_subjects (subject, requests) values (${key}, 2)`
    await sql`
    insert into limit_requests (subject, n, at)
    values (${key}, 1, clock_timestamp() - interval '3 minutes'), (${key}, 2, clock_timestamp())`
    await tidyLimits(sql)
    expect(await sql`select n::int from limit_requests where subject = ${key}`).toEqual([{ n: 2 }])
  },
)
