/** Owners that die or are suspended in the middle of a reply, among three instances (contract sections 4 and 7). */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { seededRandom } from '../support/random.ts'
import { samples } from '../support/samples.ts'
import { contentOf, type SseStream } from '../support/streams/sse.ts'
import { inTier } from '../support/tier.ts'
import { verifies } from '../verifies.ts'
import { both, errorCode, exchange, mend, newest, openScene, running, type Scene, talk } from './scene.ts'

const ROUNDS = samples(1, 3)
const failed = { status: 'error', finish_reason: 'error' }

/** The text of a stream that ended with an error chunk or broke off. */
const textOf = ({ frames }: SseStream): string => contentOf(frames.filter((frame) => errorCode(frame) === null))

describe.each(inTier(both))('$beside', ({ redis, beside }) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene({ redis })
  })
  afterAll(() => scene?.close())
  afterEach(() => mend(scene))

  /** Streams on the others end with `instance_lost`, and the message contains all that was seen. */
  async function declaredLost({ session, own, others, elsewhere }: Awaited<ReturnType<typeof running>>) {
    await expect.poll(() => newest(elsewhere, session)).toMatchObject(failed)
    const { content } = await newest(elsewhere, session)
    for (const other of others) {
      const { frames, broken } = await other.rest()
      expect([errorCode(frames.at(-1)), broken]).toEqual(['instance_lost', false])
      expect(textOf(other)).toBe(content)
    }
    expect(content.startsWith(textOf(own))).toBe(true)
    return content
  }

  verifies(
    ['contract-4.owner-lost', 'contract-4.stored-before-shown', 'contract-21.default'],
    'what was seen of a killed owner is kept, its streams elsewhere end, and the session continues',
    async () => {
      const random = seededRandom(`crash, ${beside}`)
      const { cluster, up } = scene
      for (let round = 0; round < ROUNDS; round++) {
        const owner = Math.floor(random() * 3)
        up.next(talk(2000, 3))
        const calls = up.calls.length
        const reply = await running(scene, owner)
        await pause(random() * 700)
        await cluster.kill9(owner)
        expect((await reply.own.rest()).broken).toBe(true)
        const content = await declaredLost(reply)
        up.next(talk(3, 1))
        expect(await exchange(reply.elsewhere, reply.session, 'go on')).toEqual([200, '[DONE]'])
        expect(up.calls.length - calls, 'nothing is generated again').toBe(2)
        await cluster.restart(owner)
        const { body } = await up.call(calls + 2)
        expect(body.messages.at(-2)?.content, 'the model is told what was left').toBe(content)
      }
    },
  )

  verifies(
    'contract-4.fencing',
    'an owner suspended past its lease writes nothing when it wakes, and accepts messages again',
    async () => {
      const random = seededRandom(`standstill, ${beside}`)
      const { cluster, up } = scene
      for (let round = 0; round < ROUNDS; round++) {
        const owner = Math.floor(random() * 3)
        up.next(talk(20_000, 3))
        const calls = up.calls.length
        const reply = await running(scene, owner)
        await pause(random() * 300)
        cluster.pause(owner)
        const content = await declaredLost(reply)
        await pause(random() * 300) // the vendor continues: there is something to write when it wakes
        cluster.resume(owner)
        await reply.own.rest()
        expect(content.startsWith(textOf(reply.own))).toBe(true)
        const call = await up.call(calls + 1)
        await call.closed
        expect(call.abandoned).toBe(true)
        up.always(talk(3, 1))
        const own = cluster.urls[owner] ?? ''
        await expect.poll(() => exchange(own, reply.session, 'go on')).toEqual([200, '[DONE]'])
        const id = reply.session.split('/').at(-1) ?? ''
        const messages = await cluster.database.sql`
          select content, finish_reason from messages where session_id = ${id} and role = 'assistant' order by position`
        expect(messages.map((message) => message.finish_reason)).toEqual(['error', 'stop'])
        expect(messages[0]?.content).toBe(content)
        // Settling has deleted the flushes of the lost epoch: any that exist now came from the woken owner.
        expect(
          await cluster.database.sql`
            select f.num from flushes f join instances i on i.id = f.instance_id and i.epoch > f.epoch`,
        ).toEqual([])
      }
    },
  )
})
