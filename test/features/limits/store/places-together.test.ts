/**
 * Places of concurrent replies, of messages that are admitted together and of those that follow another (contract
 * section 35).
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { LimitsInForce, NewMessage } from '../../../../src/actors/ports/index.ts'
import { finished, openScene, type Scene, versions } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { facts } from '../../continuation/store/handover-scene.ts'
import { queuedInput } from '../../queue/store/queued-scene.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const of = (id: string, limits: object): LimitsInForce => ({ key: { id, ...limits } })
  const sessions = (count: number) => Promise.all(Array.from({ length: count }, () => scene.newSession()))
  const outcomes = async (messages: readonly NewMessage[], journal = scene.journal) =>
    (await Promise.all(messages.map((message) => journal.admit(message)))).map(({ outcome }) => outcome).sort()

  verifies(
    'contract-35.places-together',
    'of messages that are admitted together as many begin as have a place, on one instance and on two',
    async () => {
      const other = await scene.another()
      for (const instances of [[scene], [scene, other]]) {
        const limits = of(randomUUID(), { concurrentReplies: 3 })
        const held = await sessions(24)
        const before = await Promise.all(held.map((id) => scene.begin(id)))
        await Promise.all(before.map((reply) => scene.journal.settle(reply, finished({ events: [] }))))
        const messages = held.map((id) => scene.message(id, { limits }))
        const shares = instances.map((_, n) => messages.filter((_, at) => at % instances.length === n))
        const answers = await Promise.all(instances.map(({ journal }, n) => outcomes(shares[n] ?? [], journal)))
        expect(answers.flat().filter((one) => one === 'admitted')).toHaveLength(3)
        const running = await scene.sql`select 1 from messages where session_id = any(${held}) and status = 'streaming'`
        expect(running).toHaveLength(3)
      }
    },
  )

  verifies(
    'contract-35.places-together',
    'a message that interrupts takes the place of the reply before it, and no other',
    async () => {
      const limits = of(randomUUID(), { concurrentReplies: 1 })
      const [a = '', b = '', c = ''] = await sessions(3)
      const { journal, message } = scene
      await scene.sql`update instances set begins_queued = true`
      const running = await scene.begin(a, { limits })
      const interrupting = {
        limits,
        facts,
        onBusy: 'interrupt',
        mayQueue: true,
        queue: queuedInput,
      } as const
      const next = message(a, interrupting)
      expect((await journal.admit(message(b, interrupting))).outcome).toBe('limited')
      // It waits for the end of the reply that is cancelled for it, and begins with that end: nobody comes between.
      expect(await journal.admit(next)).toMatchObject({ outcome: 'queued', position: 0 })
      const others = [b, c].map((id) => message(id, { limits }))
      expect(await outcomes(others)).toEqual(['limited', 'limited'])
      expect(await journal.settle(running, finished({ events: [] }))).toMatchObject({ next: next.replyId })
      expect(await outcomes(others)).toEqual(['limited', 'limited'])
    },
  )
})
