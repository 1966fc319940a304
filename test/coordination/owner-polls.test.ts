/**
 * What an owner finds by polling the database: orphans on either side, intents, silent instances (contract section 4).
 * The test simulates its replies and records the calls made on them.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import type { OwnedReplies, ReplyInfo } from '../../src/actors/ports/index.ts'
import { storedReplies } from '../../src/compose/stored-replies.ts'
import { createLocalCoordination } from '../../src/coordination/local.ts'
import { openScene, type Scene } from '../persistence/scene.ts'
import { verifies } from '../verifies.ts'
import { noDuties } from './no-duties.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

interface Played {
  /** Returns the running replies; called once each poll. */
  running(poll: number): Iterable<string>
  /** Receives all other calls; what it throws reaches the caller. */
  asked?(argument: unknown): void
}

function play({ running, asked }: Played) {
  const seen = { polls: 0, asked: [] as unknown[] }
  const answers: Pick<OwnedReplies, 'running' | 'statelessAgents' | 'leaseExpired'> = {
    running() {
      seen.polls += 1
      return new Set(running(seen.polls))
    },
    statelessAgents: () => [],
    leaseExpired() {},
  }
  const owned = new Proxy(answers, {
    get: (target, name) =>
      Reflect.get(target, name) ??
      ((argument: unknown) => {
        seen.asked.push(argument)
        asked?.(argument)
      }),
  }) as OwnedReplies
  return { owned, seen }
}

/** An instance with a lease too long to judge anybody; it still polls once a second. */
async function openOwner(leaseMs = 60_000) {
  const log = { warn() {}, info() {} }
  const id = randomUUID()
  const replies = storedReplies(scene.sql, () => null, log, 600)
  const owner = createLocalCoordination({
    ...{ id, sql: scene.sql, work: scene.sql, replies },
    ...{ leaseMs, alone: false, log },
  })
  await owner.join()
  return Object.assign(owner, { [Symbol.asyncDispose]: () => owner.stop() })
}

/** A reply that streams under this owner. */
async function replyOf(owner: { id: string; epoch(): number }): Promise<ReplyInfo> {
  const reply = await scene.begin(await scene.newSession())
  await scene.sql`update messages set instance_id = ${owner.id}, epoch = ${owner.epoch()} where id = ${reply.id}`
  return reply
}

verifies('contract-4.orphans', 'a row whose actor starts a moment later is not an orphan', async () => {
  await using owner = await openOwner()
  const { id } = await replyOf(owner)
  const { owned, seen } = play({ running: (poll) => (poll === 1 ? [] : [id]) })
  owner.start(owned, noDuties)
  await expect.poll(() => seen.polls).toBeGreaterThan(3)
  expect(seen.asked).toEqual([])
})

verifies('contract-4.orphans', 'an actor whose row ended a moment earlier is not an orphan', async () => {
  await using owner = await openOwner()
  const id = randomUUID()
  const { owned, seen } = play({ running: (poll) => (poll === 1 ? [id] : []) })
  owner.start(owned, noDuties)
  await expect.poll(() => seen.polls).toBeGreaterThan(3)
  expect(seen.asked).toEqual([])
})

verifies('contract-4.orphans', 'a row without an actor is an orphan at the second poll', async () => {
  await using owner = await openOwner()
  const { id } = await replyOf(owner)
  const { owned, seen } = play({ running: () => [] })
  owner.start(owned, noDuties)
  await expect.poll(() => seen.asked[0]).toMatchObject({ id })
  expect(seen.polls).toBe(2)
})

verifies(
  ['contract-4.cancel', 'contract-7.cancel'],
  'an intent that could not be applied stays, and is applied later',
  async () => {
    await using owner = await openOwner()
    const sessionId = randomUUID()
    await scene.sql`
    insert into intents (instance_id, kind, session_id, reply_id)
    values (${owner.id}, 'cancel', ${sessionId}, ${randomUUID()})`
    let failures = 0
    const { owned, seen } = play({
      running: () => [],
      asked() {
        failures += 1
        if (failures === 1) throw new Error('not now')
      },
    })
    owner.start(owned, noDuties)
    const intent = { kind: 'cancel', sessionId }
    await expect.poll(() => seen.asked).toMatchObject([intent, intent])
    const left = () => scene.sql`select 1 from intents where instance_id = ${owner.id}`
    await expect.poll(left).toHaveLength(0)
  },
)

verifies(
  ['contract-4.cancel', 'contract-21.cancel'],
  'a cancel that its owner has read stays until its reply has ended: the owner may not have it any more, or die',
  async () => {
    await using owner = await openOwner()
    const { id, sessionId } = await replyOf(owner)
    await scene.journal.requestCancel(sessionId, {})
    const { owned, seen } = play({ running: () => [id] })
    owner.start(owned, noDuties)
    const left = () => scene.sql`select 1 from intents where reply_id = ${id}`
    await owner.wake()
    expect(seen.asked[0]).toMatchObject({ kind: 'cancel', replyId: id })
    expect(await left()).toHaveLength(1)
    const { length } = seen.asked
    await owner.wake()
    expect(seen.asked.length).toBeGreaterThan(length)
    await scene.sql`update messages set status = 'complete' where id = ${id}`
    await owner.wake()
    expect(await left()).toHaveLength(0)
  },
)
