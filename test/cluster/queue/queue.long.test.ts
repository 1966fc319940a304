/** Contract section 22 on two instances: whatever dies, each queued message is answered once, in its order, alone. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { messagesOf, newSession } from '../../support/programs/product.ts'
import { seededRandom } from '../../support/random.ts'
import { samples } from '../../support/samples.ts'
import { openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { completions, mend, openScene, type Scene, say } from '../scene.ts'
import { check, giveTools, newTold, runSchedule, settled, watchfulVendor } from './queue-schedule.ts'

/** Schedules run ten at a time, since each kill takes two leases. */
const SESSIONS = 10
const ROUNDS = samples(1, 20)

let scene: Scene
beforeAll(async () => {
  scene = await openScene({ instances: 2 })
})
afterAll(() => scene?.close())
afterEach(() => mend(scene))

const rowsOf = async (session: string) => {
  const id = session.split('/').at(-1) ?? ''
  const [rows] = await scene.cluster.database.sql<{ queued: number; messages: number }[]>`
    select (select count(*)::integer from queued_messages q where q.session_id = ${id} and q.admission is null) as queued,
           (select count(*)::integer from messages m where m.session_id = ${id}) as messages`
  return rows
}

verifies(
  'contract-22.exactly-once',
  'random schedules of messages, decisions, cancels, removals, deletions and kill -9',
  async () => {
    const random = seededRandom('queue')
    const vendor = watchfulVendor()
    scene.up.always(vendor.answer)
    const [first = ''] = scene.cluster.urls
    await giveTools(first, scene.agent)
    for (let round = 0; round < ROUNDS; round++) {
      const all = await Promise.all(
        Array.from({ length: SESSIONS }, async (_, n) =>
          newTold(`s${round}.${n}`, await newSession(first, scene.agent)),
        ),
      )
      // Two of ten are deleted meanwhile.
      const schedules = Promise.all(all.map((told, n) => runSchedule(told, scene.cluster.urls, random, n < 2)))
      await pause(500 + random() * 1000)
      const victim = Math.floor(random() * 2)
      await scene.cluster.kill9(victim)
      await pause(random() * 3000)
      await scene.cluster.restart(victim)
      await schedules
      for (const told of all) {
        const isGone = told.isDeleted && (await fetch(`${first}${told.session}`)).status === 404
        if (!isGone) {
          await settled(told, first)
          await check(told, first)
        }
        const rows = await rowsOf(told.session)
        expect(rows?.queued).toBe(0)
        if (isGone) expect(rows?.messages).toBe(0)
        for (const stream of told.streams) stream.leave()
      }
      expect(vendor.overlaps, 'none runs while another does').toEqual([])
    }
  },
  { timeout: 60_000 + ROUNDS * 60_000 },
)

verifies(
  'contract-22.drain',
  'an instance that drains begins none: waiting connections break off, another begins them',
  async () => {
    const [first = '', second = ''] = scene.cluster.urls
    const session = await newSession(first, scene.agent)
    const { promise: goOn, resolve } = Promise.withResolvers<void>()
    scene.up.next(async (call) => {
      await call.text('so far')
      await goOn
      await call.finish()
    })
    const own = await openSse(completions(first, session), say('first'))
    await own.next()
    await own.next()
    const waits = await openSse(completions(first, session), { ...say('second'), on_busy: 'enqueue' })
    expect(waits.headers.get('x-queue-position')).toBe('1')
    scene.up.always(async (call) => {
      await call.text('answered')
      await call.finish()
    })
    const restarted = scene.cluster.restart(0)
    await expect.poll(async () => (await fetch(`${first}/readyz`).catch(() => null))?.status).toBe(503)
    resolve()
    expect((await waits.rest()).broken).toBe(true)
    await expect
      .poll(async () => (await messagesOf(second, session)).map(({ content, status }) => [content, status]))
      .toEqual([
        ['first', 'complete'],
        ['so far', 'complete'],
        ['second', 'complete'],
        ['answered', 'complete'],
      ])
    await restarted
  },
)
