/** kill -9 in the middle of replies (contract section 4): what was shown is kept, what ran is lost, nothing runs twice. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { startUpstream, type UpstreamCall } from '../support/network/upstream.ts'
import type { Product, WireMessage } from '../support/programs/product.ts'
import { addAgent, dataFolder, messagesOf, newSession, startProduct } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { samples } from '../support/samples.ts'
import { contentOf, openSse, type SseFrame } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

const RUNS = samples(1, 5)
const SESSIONS = 5

const say = (content: string) => ({ messages: [{ role: 'user', content }], stream: true })

/** Words at reading speed; every third reply is short enough to end before most kills. */
async function talk(call: UpstreamCall): Promise<void> {
  const words = call.number % 3 === 0 ? 20 : 400
  for (let n = 0; n < words && !call.abandoned; n++) {
    await call.text(`${call.number}.${n} é🙂 `)
    await pause(3)
  }
  await call.finish()
}

/** What a background reader has received of one reply. */
interface Recording {
  session: string
  frames: SseFrame[]
  over: Promise<unknown>
}

async function record(session: string, open: ReturnType<typeof openSse>): Promise<Recording> {
  const stream = await open
  expect(stream.status).toBe(200)
  return { session, frames: stream.frames, over: stream.rest() }
}

/** The whole newest reply, as it reads now. */
async function replay(url: string, session: string): Promise<SseFrame[]> {
  const stream = await openSse(`${url}${session}/chat/completions/stream`)
  expect(stream.status).toBe(200)
  expect((await stream.rest()).broken).toBe(false)
  return stream.frames
}

const isLost = ({ data }: SseFrame): boolean => data !== '[DONE]' && JSON.parse(data).error?.code === 'instance_lost'

/** All sessions send, some follow a second time; once the model is called for all, the process is killed at random. */
async function streamAndKill(
  product: Product,
  sessions: string[],
  allAsked: () => Promise<unknown>,
  random: () => number,
): Promise<Recording[]> {
  const asked = sessions.map((session, n) =>
    record(session, openSse(`${product.url}${session}/chat/completions`, say(`question ${n}`))),
  )
  const recordings = await Promise.all(asked)
  const followed = sessions
    .slice(0, 2)
    .map((session) => record(session, openSse(`${product.url}${session}/chat/completions/stream`)))
  recordings.push(...(await Promise.all(followed)))
  await allAsked()
  await pause(random() * 1000)
  await product.kill9()
  await Promise.all(recordings.map(({ over }) => over))
  return recordings
}

/** Compares a session after the restart with what its readers saw. Returns its newest id. */
async function checkSession(url: string, session: string, seen: Recording[], before: WireMessage[]): Promise<number> {
  const messages = await messagesOf(url, session)
  expect(messages.slice(0, before.length), 'no message changes').toEqual(before)
  expect(messages.map(({ role }) => role)).toEqual(messages.map((_, n) => (n % 2 === 0 ? 'user' : 'assistant')))
  const frames = await replay(url, session)
  for (const recording of seen) expect(frames.slice(0, recording.frames.length)).toEqual(recording.frames)
  const first = Number(frames[0]?.id)
  expect(frames.map(({ id }) => Number(id))).toEqual(frames.map((_, n) => first + n))
  const last = frames.at(-1)
  const lost = last !== undefined && isLost(last)
  expect(messages.at(-1)).toMatchObject({
    ...(lost ? { status: 'error', finish_reason: 'error' } : { status: 'complete', finish_reason: 'stop' }),
    content: contentOf(frames.filter((frame) => !isLost(frame))),
  })
  if (!lost) expect(last?.data).toBe('[DONE]')
  return Number(last?.id)
}

verifies(
  ['contract-4.stored-before-shown', 'contract-4.owner-lost', 'contract-1.embedded'],
  'kills at random moments lose nothing that was shown, and the sessions continue',
  async () => {
    const random = seededRandom('kill9')
    await using up = await startUpstream()
    up.always(talk)
    await using folder = await dataFolder()
    const options = { dataDir: folder.path, direct: true }
    let sessions: string[] = []
    let recordings: Recording[] = []
    let stored: WireMessage[][] = []
    const newest: number[] = []
    let lost = 0
    for (let run = 0; run <= RUNS; run++) {
      await using product = await startProduct(options)
      if (run === 0) {
        const agent = await addAgent(product, up.url)
        sessions = await Promise.all(Array.from({ length: SESSIONS }, () => newSession(product.url, agent)))
        stored = sessions.map(() => [])
      }
      for (const [n, session] of sessions.entries()) {
        const seen = recordings.filter((recording) => recording.session === session)
        if (seen.length === 0) continue
        const first = Number(seen[0]?.frames[0]?.id ?? (newest[n] ?? 0) + 1)
        expect(first, 'ids go on').toBe((newest[n] ?? 0) + 1)
        newest[n] = await checkSession(product.url, session, seen, stored[n] ?? [])
        stored[n] = await messagesOf(product.url, session)
        if (stored[n]?.at(-1)?.status === 'error') lost += 1
      }
      expect(up.calls.length, 'no reply is generated again').toBe(run * SESSIONS)
      const allAsked = () => up.call((run + 1) * SESSIONS)
      if (run < RUNS) recordings = await streamAndKill(product, sessions, allAsked, random)
    }
    expect(stored.map((messages) => messages.length)).toEqual(sessions.map(() => RUNS * 2))
    expect(lost, 'kills met running replies').toBeGreaterThan(0)
  },
)
