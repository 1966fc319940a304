/** A rolling upgrade: instances restarted one by one under load (contract section 1, drain). */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { newSession, postJson } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { contentOf, openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import {
  both,
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

const CLIENTS = 6

describe.each(both)('$beside', ({ redis, beside }) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene({ redis, env: { DRAIN_TIMEOUT_S: '12', OWNER_LEASE_MS: '20000' } })
  })
  afterAll(() => scene?.close())
  afterEach(() => mend(scene))

  /** Conversations through the balancer until stopped; resolves to the number of successes, and the failures. */
  async function load(until: AbortSignal, random: () => number): Promise<{ good: number; faults: unknown[] }> {
    const { cluster, agent } = scene
    const faults: unknown[] = []
    let good = 0
    const client = async () => {
      while (!until.aborted) {
        try {
          const session = await newSession(cluster.balancer, agent)
          const first = await exchange(cluster.balancer, session, 'hello')
          const whole = await postJson(completions(cluster.balancer, session), say('and whole', false))
          const again = await openSse(`${completions(cluster.balancer, session)}/stream`)
          const last = (await again.rest()).frames.at(-1)?.data
          const seen = [...first, whole.status, last]
          if (JSON.stringify(seen) === '[200,"[DONE]",200,"[DONE]"]') good += 1
          else faults.push(seen)
        } catch (error) {
          faults.push(error)
        }
        await pause(random() * 50)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    return { good, faults }
  }

  verifies('contract-1.drain', 'three restarts under load fail no request and cut no stream', async () => {
    const { cluster, up } = scene
    up.always(talk(30, 10))
    const stop = new AbortController()
    const loaded = load(stop.signal, seededRandom(`rolling, ${beside}`))
    for (const instance of cluster.urls.keys()) {
      expect(await cluster.restart(instance)).toEqual({ code: 0, signal: null })
    }
    stop.abort()
    const { good, faults } = await loaded
    expect(faults).toEqual([])
    expect(good).toBeGreaterThan(CLIENTS)
    // A request that nginx retried had no effect on the first instance.
    const [stored] = await cluster.database.sql<{ sessions: number; messages: number }[]>`
      select (select count(*)::int from sessions) as sessions,
             (select count(*)::int from messages where role = 'user') as messages`
    expect(stored).toEqual({ sessions: good, messages: 2 * good })
    expect(up.calls).toHaveLength(2 * good)
  })

  verifies(
    'contract-1.drain',
    'a reply that does not end in time ends as shutdown, also for followers on other instances',
    async () => {
      const { cluster, up } = scene
      up.next(stall)
      const { own, others, session, elsewhere } = await running(scene, 0)
      const ended = cluster.restart(0)
      for (const stream of [own, ...others]) {
        const { frames, broken } = await stream.rest()
        expect([contentOf(frames.slice(0, -1)), errorCode(frames.at(-1)), broken]).toEqual([
          'so far',
          'shutdown',
          false,
        ])
      }
      expect(await newest(elsewhere, session)).toMatchObject({
        content: 'so far',
        status: 'error',
        finish_reason: 'error',
      })
      expect(await ended).toEqual({ code: 0, signal: null })
      up.next(talk(2, 1))
      expect(await exchange(cluster.urls[0] ?? '', session, 'go on')).toEqual([200, '[DONE]'])
    },
  )
})
