/** Searches that take too long, or find others before them (contract section 31). */
import { afterAll, expect, vi } from 'vitest'
import { createSearches } from '../../../src/features/search/routes/run-search.ts'
import { timed, withinTime } from '../../../src/features/search/store/reading.ts'
import { connect } from '../../../src/persistence/postgres/database.ts'
import { openScene } from '../../http/scene.ts'
import { endSharedApps } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'

await endSharedApps()
const scene = await openScene({ settings: {} })
afterAll(scene.close)

const rule = 'contract-31.search-time'
const { sql } = scene.app

verifies(rule, 'one that the database does not answer is stopped, and holds up nothing else', async () => {
  scene.says(['Fine.'])
  const session = (await scene.call('POST', scene.sessions, {})).json.id
  const search = `${scene.sessions}/search?q=fine`
  await sql.begin(async (tx) => {
    await tx`lock table message_signatures in access exclusive mode`
    const [deploy, management, reply] = await Promise.all([
      scene.call('GET', search),
      scene.call('GET', '/api/v1/sessions?in=messages&q=fine'),
      scene.call('POST', `${scene.sessions}/${session}/chat/completions`, {
        messages: [{ role: 'user', content: 'a' }],
      }),
    ])
    expect(reply.status).toBe(200)
    for (const [{ status, headers, json }, field] of [
      [deploy, 'error'],
      [management, 'message'],
    ] as const) {
      expect([status, headers.get('x-should-retry'), headers.get('retry-after')]).toEqual([503, 'false', null])
      expect(json).toEqual({ [field]: expect.stringMatching(/more words|one user/) })
    }
  })
  expect((await scene.call('GET', search)).status).toBe(200)
})

verifies(rule, 'a third one waits for two others, 2 s at most', async () => {
  const runSearch = createSearches(sql)
  const held = Promise.withResolvers<void>()
  const running = [1, 2].map(() => runSearch('a', () => held.promise))
  await expect(runSearch('a', async () => 'found')).rejects.toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' },
  })
  held.resolve()
  await Promise.all(running)
  expect(await runSearch('a', async () => 'found')).toBe('found')
})

verifies('contract-18.a-turn-each', 'whoever has many waiting delays another one by a single search', async () => {
  const runSearch = createSearches(sql)
  const held = Promise.withResolvers<void>()
  const began: string[] = []
  const search = (of: string) =>
    runSearch(of, async () => {
      began.push(of)
      await held.promise
    })
  const searches = [...Array.from({ length: 10 }, () => search('many')), search('one')]
  held.resolve()
  await Promise.all(searches)
  // Two run at once, and begin in any order: two began before it waited, two go before it, and one beside it.
  expect(began.indexOf('one')).toBeLessThan(6)
})

verifies(rule, 'waiting for a connection is no reading', async () => {
  const one = connect(scene.app.databaseUrl, { max: 1, name: 'one', timeoutMs: 0 })
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const holding = one.begin(async () => {
    begun.resolve()
    await held.promise
  })
  await begun.promise
  const found = withinTime(one, async (reading) => timed(reading)`select 1 as one`)
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 3000)
  held.resolve()
  await holding
  expect(await found).toEqual([{ one: 1 }])
  clock.mockRestore()
  await one.end()
})
