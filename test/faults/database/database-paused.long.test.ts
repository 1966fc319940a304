/** A database suspended for longer than a lease, like a paused virtual machine (contract section 10). */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { end, type Instances, leaseMs, openInstances, say } from '../../coordination/instances.ts'
import { type OwnPostgres, startOwnPostgres } from '../../support/programs/own-postgres.ts'
import { verifies } from '../../verifies.ts'

let postgres: OwnPostgres
let instances: Instances
beforeAll(async () => {
  postgres = await startOwnPostgres(18)
  instances = await openInstances(null, postgres.database)
})
afterAll(async () => {
  await instances[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

verifies('contract-10.loss-without-clocks', 'a database pause of one and a half leases loses no instance', async () => {
  const all = await Promise.all([1, 2, 3].map(() => instances.open()))
  const replies = await Promise.all(all.map((one) => instances.start(one)))
  for (const { call } of replies) await call.say(say('so far'))
  await pause(2 * leaseMs) // all instances have read all leases for longer than judging takes
  for (let round = 0; round < 3; round += 1) {
    await postgres.freeze(1.5 * leaseMs)
    await pause(2 * leaseMs)
  }
  const rows = await instances.sql<{ epoch: number; lost: boolean }[]>`
    select epoch, lost_at is not null as lost from instances`
  expect(rows.map(({ epoch, lost }) => ({ epoch, lost }))).toEqual(all.map(() => ({ epoch: 1, lost: false })))
  // Each owner fenced itself, and stored that once the database was back.
  const settled = await instances.sql<
    { code: string }[]
  >`select error_code as code from messages where role = 'assistant'`
  expect(settled.map(({ code }) => code)).toEqual(all.map(() => 'internal'))
  for (const { done } of replies) await expect(done).rejects.toThrow()
  const [owner] = all
  if (owner === undefined) throw new Error('nobody')
  const next = await instances.start(owner)
  await next.call.say(end)
  await next.done
})
