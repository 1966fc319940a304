/** An instance's own lease (contract section 10): after a late renewal it first ends its earlier replies. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import type { OwnedReplies } from '../../src/actors/ports/index.ts'
import { storedReplies } from '../../src/compose/stored-replies.ts'
import { createLease } from '../../src/coordination/leases/lease.ts'
import { createLocalCoordination } from '../../src/coordination/local.ts'
import { openScene, type Scene } from '../persistence/scene.ts'
import { endSharedApps } from '../support/app.ts'
import { verifies } from '../verifies.ts'
import { noDuties } from './no-duties.ts'

let scene: Scene
beforeAll(endSharedApps)
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

/** A lease whose events record whether it was valid when they occurred. */
async function openLease(leaseMs: number) {
  const events: { name: string; valid: boolean }[] = []
  const note = (name: string) => events.push({ name, valid: isValid() })
  const id = randomUUID()
  const lease = createLease({
    sql: scene.sql,
    id,
    leaseMs,
    onLost: () => note('lost'),
    onLapsed: () => note('lapsed'),
  })
  const isValid = () => performance.now() < lease.validUntil()
  await lease.take()
  return { lease, id, events, isValid }
}

verifies(
  ['contract-10.lease', 'contract-10.self-fencing'],
  'a renewal after a gap of one lease, its epoch still standing: what ran before ends before the lease holds again',
  async () => {
    const { lease, events, isValid } = await openLease(500)
    await expect.poll(isValid).toBe(false)
    await lease.renew()
    expect([lease.epoch(), isValid(), events]).toEqual([1, true, [{ name: 'lapsed', valid: false }]])
  },
)

for (const step of ['take', 'renew'] as const) {
  verifies(
    'contract-10.lease',
    `its age counts from when ${step} was sent, however late the answer comes`,
    async () => {
      const { lease, id } = await openLease(60_000)
      let answer: Promise<void> | null = null
      let sentBy = 0
      await scene.sql.begin(async (tx) => {
        await tx`select 1 from instances where id = ${id} for update`
        answer = lease[step]()
        sentBy = performance.now()
        const waiting = async () => (await tx`select 1 from pg_locks where not granted`).length
        await expect.poll(waiting).toBeGreaterThan(0)
      })
      await answer
      expect(lease.validUntil()).toBeLessThanOrEqual(sentBy + 60_000)
    },
  )
}

verifies('contract-10.self-fencing', 'renewals in time end nothing', async () => {
  const { lease, events } = await openLease(60_000)
  await lease.renew()
  await lease.renew()
  expect(events).toEqual([])
})

verifies(
  'contract-10.self-fencing',
  'an instance that was declared lost ends all that ran, stateless too',
  async () => {
    const { lease, id, events, isValid } = await openLease(60_000)
    await scene.sql`update instances set epoch = epoch + 1, lost_at = clock_timestamp() where id = ${id}`
    await lease.renew()
    expect([lease.epoch(), isValid()]).toEqual([2, true])
    expect(events).toEqual([
      { name: 'lost', valid: false },
      { name: 'lapsed', valid: false },
    ])
  },
)

verifies('contract-10.self-fencing', 'a renewal that is under way at a clean end takes no lease again', async () => {
  const { lease, id, isValid } = await openLease(60_000)
  await scene.sql`update instances set epoch = epoch + 1, lost_at = clock_timestamp() where id = ${id}`
  await Promise.all([lease.renew(), lease.leave()])
  expect([lease.epoch(), isValid()]).toEqual([0, false])
  const [row] = await scene.sql`select lost_at from instances where id = ${id}`
  expect(row?.lost_at).toBeInstanceOf(Date)
})

verifies(
  ['contract-10.lease', 'contract-10.self-fencing'],
  'a process that was suspended and reads the answer to a renewal first: its replies end before any timer runs',
  async () => {
    const leaseMs = 600
    const now = performance.now.bind(performance)
    let suspendedMs = 0
    using _clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + suspendedMs)
    let ended = 0
    const seen = Promise.withResolvers<number>()
    const suspend = () => {
      suspendedMs += leaseMs
      // Before the next timer, and after all that follows from the answer.
      setImmediate(() => seen.resolve(ended))
    }
    let statements = 0
    const leaseSql = new Proxy(scene.sql, {
      apply: async (target, self, given) => {
        const rows = await Reflect.apply(target, self, given)
        statements += 1
        if (statements === 2) suspend() // the first one takes the lease
        return rows
      },
    })
    const log = { warn() {}, info() {} }
    const replies = storedReplies(scene.sql, () => null, log, 600)
    const coordination = createLocalCoordination({
      id: randomUUID(),
      sql: leaseSql,
      work: scene.sql,
      replies,
      leaseMs,
      alone: false,
      log,
    })
    await coordination.join()
    const owned: Pick<OwnedReplies, 'running' | 'statelessAgents' | 'leaseExpired'> = {
      running: () => new Set(),
      statelessAgents: () => [],
      leaseExpired: () => void ended++,
    }
    coordination.start(owned as OwnedReplies, noDuties)
    expect(await seen.promise).toBe(1)
    await coordination.stop()
  },
)
