/** How many connections an instance opens, and what for: docs/operating/sizing.md sizes `max_connections` by it. */
import { afterAll, expect, test } from 'vitest'
import { openScene } from '../../http/scene.ts'

const scene = await openScene()
afterAll(scene.close)

const open = async () => {
  const rows = await scene.app.sql<{ kind: string; n: number }[]>`
    select split_part(application_name, ' ', 2) as kind, count(*) as n from pg_stat_activity
     where application_name like 'greenroom %' and datname = current_database() group by 1`
  return Object.fromEntries(rows.map(({ kind, n }) => [kind, n]))
}

test('23 at most: ten for replies, six for everything else, four for coordination, one each for journal, lease, upkeep', async () => {
  scene.says(['a', 'b'])
  const one = async () => {
    const id = await scene.newSession()
    await Promise.all([scene.send(id, 'x'), scene.messages(id), scene.call('GET', '/api/v1/agents')])
  }
  const whole = { replies: 10, pool: 6, journal: 1, lease: 1, upkeep: 1 }
  /** Coordination opens them as its timers happen to fall together. */
  const others = async () => {
    const { coordination = 0, ...rest } = await open()
    expect(coordination).toBeLessThanOrEqual(4)
    return rest
  }
  const ids = await Promise.all(Array.from({ length: 40 }, () => scene.newSession()))
  await Promise.all(Array.from({ length: 40 }, one))
  // Messages share a statement, so few connections are enough for them, unless each waits for a lock of its own.
  const sent = await scene.app.sql.begin(async (sql) => {
    await sql`select from sessions where id = any(${ids.map((id) => id.slice(-36))}) for update`
    const sending = Promise.allSettled(ids.map((id) => scene.send(id, 'x')))
    await expect
      .poll(async () => {
        await Promise.all(Array.from({ length: 10 }, () => scene.call('GET', '/api/v1/agents')))
        return await others()
      })
      .toEqual(whole)
    return { sending }
  })
  await sent.sending
  await Promise.all(Array.from({ length: 200 }, one))
  expect(await others()).toEqual(whole)
})
