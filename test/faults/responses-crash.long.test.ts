/** kill -9 within streams of the Responses API: what was seen is repeated byte for byte, and each has one end (contract section 24). */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { eventsOf } from '../http/wires/responses/responses-scene.ts'
import { startUpstream, type UpstreamCall } from '../support/network/upstream.ts'
import { addAgent, dataFolder, startProduct } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { samples } from '../support/samples.ts'
import { openSse, type SseStream } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

const RUNS = samples(1, 10)
const STREAMS = 6
const LAST = /^event: response\.(?:completed|failed|incomplete)\n/gm

/** Every third one is whole before the kill; the others go on until their client has gone. */
async function talk(call: UpstreamCall): Promise<void> {
  const isShort = call.number % 3 === 0
  for (let n = 0; !call.abandoned && !(isShort && n === 10); n++) {
    await (n % 4 === 1 ? call.delta({ reasoning_content: `thought ${n} ` }) : call.text(`${n} é🙂 `))
    if (!isShort) await pause(2)
  }
  await call.finish()
}

/** Whole events; a piece that the kill has cut is none. */
const wholeEvents = (raw: string): string[] =>
  raw.split(/(?<=\n\n)/).filter((piece) => piece.startsWith('event:') && piece.endsWith('\n\n'))

async function seenUntilKill(deploy: string, kill: () => Promise<unknown>, events: number): Promise<SseStream[]> {
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, (_, n) => openSse(`${deploy}/responses`, { input: `Hi ${n}`, stream: true })),
  )
  // Each has begun; the kill comes at some event of the first one, wherever the others are.
  await Promise.all(streams.map((stream) => stream.next()))
  for (let n = 0; n < events; n++) await streams[0]?.next()
  const over = streams.map((stream) => stream.rest())
  await kill()
  await Promise.all(over)
  return streams
}

verifies(
  ['contract-24.numbers', 'contract-24.resume'],
  'kills at random moments: what was seen is repeated byte for byte, and the end is one',
  async () => {
    const random = seededRandom('responses and kills')
    await using up = await startUpstream()
    up.always(talk)
    await using folder = await dataFolder()
    const options = { dataDir: folder.path, direct: true }
    let agent: string | null = null
    const seen = new Map<string, string[]>()
    for (let run = 0; run < RUNS; run++) {
      await using product = await startProduct(options)
      agent ??= await addAgent(product, up.url)
      const deploy = `${product.url}/api/v1/agents/${agent}/deploy`
      const streams = await seenUntilKill(deploy, () => product.kill9(), Math.floor(random() * 60))
      for (const stream of streams) {
        const pieces = wholeEvents(stream.raw())
        seen.set(eventsOf({ frames: stream.frames.slice(0, 1) })[0]?.response.id, pieces)
      }
    }
    await using heir = await startProduct(options)
    const kinds: (string | undefined)[] = []
    for (const [id, pieces] of seen) {
      const read = async (query: string) => {
        const stream = await openSse(`${heir.url}/api/v1/agents/${agent}/deploy/responses/${id}?stream=true${query}`)
        expect((await stream.rest()).broken).toBe(false)
        return wholeEvents(stream.raw())
      }
      const whole = await read('')
      expect(whole.slice(0, pieces.length)).toEqual(pieces)
      expect(await read(`&starting_after=${pieces.length - 1}`)).toEqual(whole.slice(pieces.length))
      expect(whole.join('').match(LAST)).toHaveLength(1)
      kinds.push(/^event: (.*)/.exec(whole.at(-1) ?? '')?.[1])
    }
    expect(seen.size).toBe(RUNS * STREAMS)
    expect(kinds).toContain('response.failed')
    expect(up.calls).toHaveLength(RUNS * STREAMS)
  },
)
