/** Streams, recorded as they ran, behind every number of them and from either instance (contract section 24). */
import { afterAll, expect } from 'vitest'
import { bearer, DEPLOY_KEY, openFrontDoor } from '../../../features/users/access/front-door-scene.ts'
import type { TestApp } from '../../../support/app.ts'
import type { UpstreamCall } from '../../../support/network/upstream.ts'
import { seededRandom } from '../../../support/random.ts'
import { samples } from '../../../support/samples.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { eventFaults } from './open-responses.ts'
import { packageFaults } from './openai-events.ts'
import { eventsOf } from './responses-scene.ts'

/** Each end once; more of the same. */
const STREAMS = samples(5, 20)
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]
const ends = ['stop', 'length', 'content_filter', 'tool_calls', 'fails'] as const

const door = await openFrontDoor()
afterAll(door.close)

const headers = bearer(DEPLOY_KEY)
const url = (app: TestApp, rest = '') => `${app.url}${door.deploy()}/responses${rest}`

/** Reasoning and text by turns, then one of the ends. */
async function play(call: UpstreamCall, n: number, random: () => number): Promise<void> {
  const pieces = 1 + Math.floor(random() * 5)
  for (let piece = 0; piece < pieces; piece++) {
    const words = `${n}.${piece} é🙂\n`
    await (random() < 0.4 ? call.delta({ reasoning_content: words }) : call.text(words))
  }
  const end = ends[n % ends.length]
  if (end === 'fails') return call.data({ error: { message: 'the model fell over', code: 400 } })
  if (end === 'tool_calls') await call.toolCall({ name: 'look', arguments: `{"n":${n}}`, id: 'same' })
  await call.finish(end)
}

async function rest(app: TestApp, id: string, after: number, asHeader: boolean): Promise<string> {
  const query = asHeader ? '' : `&starting_after=${after}`
  const last = asHeader ? { 'last-event-id': `${after}` } : {}
  const stream = await openSse(url(app, `/${id}?stream=true${query}`), undefined, { ...headers, ...last })
  expect((await stream.rest()).broken).toBe(false)
  return stream.raw()
}

const withoutPings = (raw: string) => raw.replaceAll(/^: .*\n\n/gm, '')

verifies(
  ['contract-24.numbers', 'contract-24.resume', 'contract-24.events'],
  'behind every number of a stream, here and on another instance, are the same bytes',
  async () => {
    const random = seededRandom('recorded streams')
    let numbers = 0
    for (let n = 0; n < STREAMS; n++) {
      door.up.next((call) => play(call, n, random))
      const live = await openSse(url(door.here), { input: `Question ${n}`, stream: true, tools }, headers)
      expect((await live.rest()).broken).toBe(false)
      const pieces = withoutPings(live.raw()).split(/(?<=\n\n)/)
      const events = eventsOf(live)
      expect([...events.flatMap(eventFaults), ...events.flatMap(packageFaults)]).toEqual([])
      expect(pieces).toHaveLength(events.length)
      const id = events[0]?.response.id
      for (const after of events.keys()) {
        const expected = pieces.slice(after + 1).join('')
        const read = [rest(door.here, id, after, false), rest(door.there, id, after, after % 2 === 0)]
        for (const raw of await Promise.all(read)) expect(withoutPings(raw)).toBe(expected)
        numbers += 1
      }
    }
    expect(numbers).toBeGreaterThan(STREAMS * 8)
  },
)
