/**
 * Races between three instances, several times each, and failures of their backends in the middle of a reply (contract
 * sections 4 and 7). Prints the seed that reproduces the timing.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { type OwnPostgres, startOwnPostgres } from '../support/programs/own-postgres.ts'
import { messagesOf, newSession, postJson } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { samples } from '../support/samples.ts'
import { contentOf, openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import {
  both,
  cancel,
  completions,
  errorCode,
  exchange,
  mend,
  newest,
  openScene,
  running,
  type Scene,
  say,
  stall,
  talk,
} from './scene.ts'

const ROUNDS = samples(2, 8)
const OUTAGES = samples(1, 3)
const WORDS = 20
const EVERY_MS = 10

describe.each(both)('$beside', ({ redis, beside }) => {
  let postgres: OwnPostgres
  let scene: Scene
  let random: () => number
  beforeAll(async () => {
    postgres = await startOwnPostgres(15)
    scene = await openScene({ redis, database: postgres.database, env: { OWNER_LEASE_MS: '20000' } })
  })
  afterAll(async () => {
    await scene?.close()
    await postgres?.[Symbol.asyncDispose]()
  })
  afterEach(() => mend(scene))
  beforeEach(({ task }) => {
    // A call that was given up on its way may come late, and take the next script: what is left then ends as well.
    scene.up.always(talk(WORDS, EVERY_MS))
    random = seededRandom(`${task.name}, ${beside}`)
  })
  const owner = () => Math.floor(random() * 3)
  const lastWord = () => pause(WORDS * EVERY_MS * (0.5 + random()))

  verifies('contract-4.cancel', 'a cancel races the last token: one end, the same for all', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      scene.up.next(talk(WORDS, EVERY_MS))
      const { session, own, others, elsewhere } = await running(scene, owner())
      await lastWord()
      expect((await cancel(elsewhere, session)).status).toBe(204)
      for (const stream of [own, ...others]) expect((await stream.rest()).broken).toBe(false)
      for (const other of others) expect(other.raw()).toBe(own.raw())
      expect(own.frames.filter(({ data }) => data === '[DONE]')).toHaveLength(1)
      const message = await newest(elsewhere, session)
      expect(message).toMatchObject({ status: 'complete', content: contentOf(own.frames) })
      expect(['stop', 'cancelled']).toContain(message.finish_reason)
    }
  })

  verifies('contract-4.delete', 'a deletion races the stream: finished or deleted, and gone everywhere', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      scene.up.next(talk(WORDS, EVERY_MS))
      const { session, own, others, elsewhere } = await running(scene, owner())
      await lastWord()
      expect((await fetch(`${elsewhere}${session}`, { method: 'DELETE' })).status).toBe(204)
      for (const stream of [own, ...others]) {
        const { frames, broken } = await stream.rest()
        expect(broken).toBe(false)
        expect(frames.map(({ id }) => Number(id))).toEqual(frames.map((_, index) => index + 1))
        const last = frames.at(-1)
        expect(last?.data === '[DONE]' || errorCode(last) === 'session_deleted').toBe(true)
      }
      for (const url of scene.cluster.urls) expect((await fetch(`${url}${session}`)).status).toBe(404)
    }
  })

  verifies(
    'contract-4.busy',
    'simultaneous messages at all instances: one is admitted; interrupts are serialized',
    async () => {
      scene.up.always(stall)
      const { urls } = scene.cluster
      for (let round = 0; round < ROUNDS; round++) {
        const session = await newSession(urls[0] ?? '', scene.agent)
        const send = (url: string, more = {}) => openSse(completions(url, session), { ...say('me'), ...more })
        const streams = await Promise.all(urls.map((url) => send(url)))
        expect(streams.map(({ status }) => status).sort()).toEqual([200, 409, 409])
        const taken = await Promise.all(urls.map((url) => send(url, { on_busy: 'interrupt' })))
        const statuses = taken.map(({ status }) => status)
        expect(statuses).toContain(200)
        expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
        await cancel(urls[1] ?? '', session)
        const read = async () => (await messagesOf(urls[2] ?? '', session)).map(({ status }) => status)
        await expect.poll(async () => new Set(await read())).toEqual(new Set(['complete']))
        const stored = await messagesOf(urls[2] ?? '', session)
        expect(stored.filter(({ role }) => role === 'user')).toHaveLength(
          1 + statuses.filter((one) => one === 200).length,
        )
        for (const stream of [...streams, ...taken]) await stream.rest()
      }
    },
  )

  const below = {
    'PostgreSQL restarted': () => postgres.restart(),
    ...(redis && {
      'Redis killed and restarted': async () => {
        await scene.cluster.redis?.kill9()
        await pause(random() * 300)
        await scene.cluster.redis?.restart()
      },
      'Redis emptied': async () => await scene.cluster.redis?.flush(),
      'Redis standing still': async () => {
        scene.cluster.redis?.pause()
        await pause(500 + random() * 1500)
        scene.cluster.redis?.resume()
      },
    }),
  }
  for (const [what, happens] of Object.entries(below)) {
    const rule = what.startsWith('Redis') ? 'contract-7.redis-lost' : 'contract-4.stored-before-shown'
    verifies(rule, `${what} in the middle of a reply: every stream continues to its end`, async () => {
      for (let round = 0; round < OUTAGES; round++) {
        scene.up.next(talk(60, 25))
        const { session, own, others, elsewhere } = await running(scene, owner())
        await pause(random() * 500)
        await happens()
        for (const stream of [own, ...others]) expect((await stream.rest()).broken).toBe(false)
        for (const other of others) expect(other.raw()).toBe(own.raw())
        expect(own.frames.at(-1)?.data).toBe('[DONE]')
        expect(await newest(elsewhere, session)).toMatchObject({ status: 'complete', content: contentOf(own.frames) })
        scene.up.next(talk(2, 1))
        expect(await exchange(elsewhere, session, 'go on')).toEqual([200, '[DONE]'])
        await expect
          .poll(async () => (await postJson(`${completions(elsewhere, session)}/cancel`, {})).status)
          .toBe(204)
      }
    })
  }
})
