/** Reasoning among three instances: followed, resumed from each id, kept when its owner is killed (contract section 12). */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { newSession } from '../support/programs/product.ts'
import { openSse, type SseFrame, type SseStream } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { both, completions, errorCode, exchange, follow, mend, newest, openScene, type Scene, say } from './scene.ts'

const field = (frames: readonly SseFrame[], name: 'content' | 'reasoning_content'): string =>
  frames
    .filter((frame) => frame.data !== '[DONE]' && errorCode(frame) === null)
    .map(({ data }) => JSON.parse(data).choices[0]?.delta[name] ?? '')
    .join('')

describe.each(both)('$beside', ({ redis }) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene({ redis })
  })
  afterAll(() => scene?.close())
  afterEach(() => mend(scene))

  /** A reply of the first instance whose model is in the test's hand, and those who read along, one on each instance. */
  async function begin() {
    const { cluster, up, agent } = scene
    const { promise: asked, resolve } = Promise.withResolvers<UpstreamCall>()
    up.next(resolve)
    const session = await newSession(cluster.urls[1] ?? '', agent)
    const own = await openSse(completions(cluster.urls[0] ?? '', session), { ...say('Why?'), include_reasoning: true })
    const others = await Promise.all([1, 2].map((n) => follow(cluster.urls[n] ?? '', session)))
    return { session, call: await asked, own, others }
  }
  const until = async (streams: readonly SseStream[], text: string) => {
    for (const stream of streams) while (!stream.raw().includes(text)) await stream.next()
  }
  /** After each id of a finished reply the rest comes on another instance too, the closing frames always. */
  async function expectResumable(session: string, frames: readonly SseFrame[], closing: number) {
    const url = completions(scene.cluster.urls[2] ?? '', session)
    for (const [index, { id = '' }] of frames.entries()) {
      const resumed = await openSse(`${url}/stream`, undefined, { 'last-event-id': id })
      expect((await resumed.rest()).frames).toEqual(frames.slice(Math.min(index + 1, frames.length - closing)))
    }
  }

  verifies(
    ['contract-12.reasoning', 'contract-12.one-log'],
    'whoever reads along on another instance sees the same frames, and resumes from each of them',
    async () => {
      const { session, call, own, others } = await begin()
      for (let n = 0; n < 10; n++) {
        await call.delta({ reasoning_content: `thought ${n} ` })
        await pause(5)
      }
      await call.text('So ')
      await call.delta({ reasoning_content: 'or not' })
      await call.text('it is.')
      await call.finish()
      const { frames } = await own.rest()
      const thoughts = Array.from({ length: 10 }, (_, n) => `thought ${n} `).join('')
      expect(field(frames, 'reasoning_content')).toBe(`${thoughts}or not`)
      expect(field(frames, 'content')).toBe('So it is.')
      expect(frames.map(({ id }) => Number(id))).toEqual(frames.map((_, index) => index + 1))
      for (const other of others) expect((await other.rest()).frames).toEqual(frames)
      await expectResumable(session, frames, 2)
      for (const url of scene.cluster.urls) {
        expect(await newest(url, session)).toMatchObject({ content: 'So it is.', reasoning: `${thoughts}or not` })
      }
    },
  )

  verifies(
    ['contract-12.reasoning', 'contract-12.one-log', 'contract-4.stored-before-shown', 'contract-4.owner-lost'],
    'its owner is killed while the model thinks: what was shown is stored, numbered and resumed, and sent to no model',
    async () => {
      const { cluster, up } = scene
      const { session, call, own, others } = await begin()
      for (let n = 0; n < 10; n++) await call.delta({ reasoning_content: `thought ${n} ` })
      await until([own, ...others], 'thought 9')
      await cluster.kill9(0)
      expect((await own.rest()).broken).toBe(true)
      const elsewhere = cluster.urls[1] ?? ''
      const thoughts = field(own.frames, 'reasoning_content')
      const whole = []
      for (const other of others) {
        const { frames, broken } = await other.rest()
        expect([errorCode(frames.at(-1)), broken]).toEqual(['instance_lost', false])
        expect(field(frames, 'reasoning_content')).toBe(thoughts)
        expect(frames.slice(0, own.frames.length)).toEqual(own.frames)
        whole.push(frames)
      }
      expect(whole[0]).toEqual(whole[1])
      expect(await newest(elsewhere, session)).toMatchObject({ content: '', reasoning: thoughts, status: 'error' })
      await expectResumable(session, whole[0] ?? [], 1)
      up.next((next) => next.text('Because.').then(() => next.finish()))
      const calls = up.calls.length
      expect(await exchange(elsewhere, session, 'And?')).toEqual([200, '[DONE]'])
      expect(JSON.stringify((await up.call(calls + 1)).body)).not.toContain('thought')
      await cluster.restart(0)
    },
  )
})
