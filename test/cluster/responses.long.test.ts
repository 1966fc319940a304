/** Streams of the Responses API among three instances, one of which is killed (contract section 24). */
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { deployUrl } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { openSse, type SseStream } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { both, openScene, type Scene } from './scene.ts'

const STREAMS = 20
const KILLS = 5

/** Frames as they stood on the wire, each with its end. */
const piecesOf = (stream: SseStream): string[] => stream.raw().split(/(?<=\n\n)/)

/** A reply of some kind: with reasoning or without, with or without a call of a tool, long, short, cut off or failed. */
function play(up: Scene['up'], random: () => number): void {
  const speak = async (call: UpstreamCall) => {
    if (random() < 0.5) for (let n = 0; n < 3; n++) await call.delta({ reasoning_content: `thought ${n} ` })
    for (let n = 0; n < random() * 12; n++) await call.text(`${n} é🙂 `)
  }
  if (random() < 0.4) {
    up.next(async (call) => {
      await speak(call)
      await call.toolCall({ id: 'call', name: 'current_time', arguments: '{"timeZone":"UTC"}' }, 4)
      await call.finish('tool_calls')
    })
  }
  const end = random()
  up.next(async (call) => {
    await speak(call)
    if (end < 0.15) return call.data({ error: { message: 'overloaded' } }).then(() => call.end())
    await call.text('end')
    await call.finish(end < 0.3 ? 'length' : 'stop', { prompt_tokens: 7, completion_tokens: 2 })
  })
}

describe.each(both)('$beside', ({ redis, beside }) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene({ redis })
    const answer = await fetch(`${scene.cluster.urls[0]}/api/v1/agents/${scene.agent}/tools`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ builtInToolIds: ['current_time'] }),
    })
    expect(answer.status).toBe(200)
  })
  afterAll(() => scene?.close())

  const responsesAt = (instance: number) => `${deployUrl(scene.cluster.urls[instance] ?? '', scene.agent)}/responses`
  const begin = (instance: number) => openSse(responsesAt(instance), { input: 'Tell me.', stream: true })
  const follow = (instance: number, id: string, behind: number) =>
    openSse(`${responsesAt(instance)}/${id}?stream=true&starting_after=${behind}`)
  const idOf = (stream: SseStream): string => JSON.parse(stream.frames[0]?.data ?? '').response.id

  verifies(
    ['contract-24.numbers', 'contract-24.resume'],
    `${STREAMS} recorded streams, resumed behind every number, are the rest byte for byte on another instance`,
    async () => {
      const random = seededRandom(`responses, ${beside}`)
      for (let round = 0; round < STREAMS; round++) {
        play(scene.up, random)
        const recorded = await begin(round % 3)
        expect((await recorded.rest()).broken).toBe(false)
        const pieces = piecesOf(recorded)
        const elsewhere = (round + 1) % 3
        const whole = await openSse(`${responsesAt(elsewhere)}/${idOf(recorded)}?stream=true`)
        await whole.rest()
        expect(whole.raw()).toBe(recorded.raw())
        for (const number of recorded.frames.keys()) {
          const rest = await follow(elsewhere, idOf(recorded), number)
          await rest.rest()
          expect(rest.raw()).toBe(pieces.slice(number + 1).join(''))
        }
      }
    },
  )

  verifies(
    ['contract-24.numbers', 'contract-24.failed'],
    'its instance killed at a random point, what was seen is repeated byte for byte, and the end is one',
    async () => {
      const random = seededRandom(`responses killed, ${beside}`)
      for (let round = 0; round < KILLS; round++) {
        const owner = round % 3
        const words = 1 + Math.floor(random() * 20)
        scene.up.next(async (call) => {
          if (random() < 0.5) await call.delta({ reasoning_content: 'Let me see. ' })
          for (let n = 0; n < words; n++) await call.text(`${n} é🙂 `)
          await call.closed
        })
        const live = await begin(owner)
        // A frame may hold several words.
        const seen = `${Math.floor(random() * words)} é🙂`
        while (!live.raw().includes(seen)) expect(await live.next()).not.toBeNull()
        onTestFinished(async () => void (await scene.cluster.restart(owner).catch(() => {})))
        await scene.cluster.kill9(owner)
        await live.rest()
        const id = idOf(live)
        const [one, other] = await Promise.all([
          openSse(`${responsesAt((owner + 1) % 3)}/${id}?stream=true`),
          openSse(`${responsesAt((owner + 2) % 3)}/${id}?stream=true`),
        ])
        await Promise.all([one.rest(), other.rest()])
        const shown = live.frames.map((_, number) => piecesOf(live)[number]).join('')
        expect(one.raw().startsWith(shown)).toBe(true)
        expect(other.raw()).toBe(one.raw())
        const last = JSON.parse(one.frames.at(-1)?.data ?? '')
        expect([last.type, last.response.error?.code]).toEqual(['response.failed', 'instance_lost'])
        await scene.cluster.restart(owner)
      }
    },
  )
})
