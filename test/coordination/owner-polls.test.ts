/**
 * What an owner finds in the database by polling: orphans on either side, intents, silent others (contract section 4).
 * Its replies are played by the test; what they are asked to do is recorded by its arguments.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import type { OwnedReplies } from '../../src/actors/ports.ts'
import { storedReplies } from '../../src/compose/stored-replies.ts'
import { createLocalCoordination } from '../../src/coordination/local.ts'
import { openScene, type Scene } from '../persistence/scene.ts'
import { verifies } from '../verifies.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

interface Played {
  /** The answer to each question which replies run; asked once a poll. */
  running(poll: number): Iterable<string>
  /** Whatever else is asked. What it throws the caller gets. */
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

/** An instance whose lease is long enough to judge nobody: what it polls for it polls once a second all the same. */
async function openOwner(leaseMs = 60_000) {
  const log = { warn() {}, info() {} }
  const id = randomUUID()
  const replies = storedReplies(scene.sql, () => null, log)
  const owner = createLocalCoordination({ id, sql: scene.sql, work: scene.sql, replies, leaseMs, alone: false, log })
  await owner.join()
  return Object.assign(owner, { [Symbol.asyncDispose]: () => owner.stop() })
}

/** A reply that streams under this owner. */
async function replyOf(owner: { id: string; epoch(): number }): Promise<string> {
  const { id } = await scene.begin(await scene.newSession())
  await scene.sql`update messages set instance_id = ${owner.id}, epoch = ${owner.epoch()} where id = ${id}`
  return id
}

verifies('contract-4.orphans', 'a row whose actor begins a moment later is no orphan', async () => {
  await using owner = await openOwner()
  const id = await replyOf(owner)
  const { owned, seen } = play({ running: (poll) => (poll === 1 ? [] : [id]) })
  owner.start(owned, () => {})
  await expect.poll(() => seen.polls).toBeGreaterThan(3)
  expect(seen.asked).toEqual([])
})

verifies('contract-4.orphans', 'an actor whose row ends a moment earlier is no orphan', async () => {
  await using owner = await openOwner()
  const id = randomUUID()
  const { owned, seen } = play({ running: (poll) => (poll === 1 ? [id] : []) })
  owner.start(owned, () => {})
  await expect.poll(() => seen.polls).toBeGreaterThan(3)
  expect(seen.asked).toEqual([])
})

verifies('contract-4.orphans', 'a row without an actor is one at the second poll', async () => {
  await using owner = await openOwner()
  const id = await replyOf(owner)
  const { owned, seen } = play({ running: () => [] })
  owner.start(owned, () => {})
  await expect.poll(() => seen.asked[0]).toMatchObject({ id })
  expect(seen.polls).toBe(2)
})

verifies(['contract-4.cancel', 'contract-7.cancel'], 'an intent that could not be obeyed stays, and is', async () => {
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
  owner.start(owned, () => {})
  const intent = { kind: 'cancel', sessionId }
  await expect.poll(() => seen.asked).toMatchObject([intent, intent])
  const left = () => scene.sql`select 1 from intents where instance_id = ${owner.id}`
  await expect.poll(left).toHaveLength(0)
})
