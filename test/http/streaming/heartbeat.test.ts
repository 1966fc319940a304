/**
 * Contract section 3: heartbeats, and clients that take nothing. `setInterval` and the monotonic clock are played by
 * the test, everything else (sockets, database, provider) is real and takes its own time.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest'
import { openEventStream, streamsEnded } from '../../../src/http/streaming/sse.ts'
import { endSharedApps } from '../../support/app.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

beforeAll(endSharedApps)

// The clock leaps a minute at a time: a shorter lease would be over until its next renewal, and end the replies.
const scene = await openScene({ settings: { OWNER_LEASE_MS: '150000' } })
afterAll(scene.close)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** What has arrived, once it is so long. */
const arrived = (stream: { raw(): string }, length: number) =>
  vi.waitFor(() => expect(stream.raw().length).toBeGreaterThanOrEqual(length), { timeout: WAIT_MS, interval: 5 })

verifies(
  'contract-3.heartbeat',
  'after 15 s of silence ": ping" and one line end, again after 15 more, never retry',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const stream = await scene.stream(id, 'x')
    const up = await next
    await stream.next()
    const role = stream.raw()
    const whole = stream.rest()
    for (const pings of [1, 2]) {
      const before = stream.raw()
      vi.advanceTimersByTime(15_000)
      await scene.messages(id) // a round trip: a ping would have come before its answer
      expect(stream.raw()).toBe(before)
      vi.advanceTimersByTime(1_000) // streams are checked once a second
      await arrived(stream, role.length + 7 * pings)
      expect(stream.raw()).toBe(role + ': ping\n'.repeat(pings))
    }
    await up.text('a')
    await up.finish()
    const { frames } = await whole
    expect(frames.map((frame) => frame.id)).toEqual(['1', '2', '3', '4']) // no event was made of a ping
    expect(contentOf(frames)).toBe('a')
    expect(stream.raw()).toContain(': ping\n: ping\nid: 2\ndata: ')
    expect(stream.raw()).not.toMatch(/retry|: ping\n\n/)
  },
)

verifies('contract-3.heartbeat', 'stateless and playground streams, and followers, get it too', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const first = await scene.stream(id, 'x')
  const up = await next
  const follower = await scene.resume(id, 1)
  const other = scene.byHand()
  const stateless = await scene.statelessStream('x')
  const otherUp = await other
  const open = [first, stateless, follower]
  const wholes = open.map((stream) => stream.rest())
  await arrived(first, 1)
  await arrived(stateless, 1)
  vi.advanceTimersByTime(16_000)
  for (const stream of open)
    await vi.waitFor(() => expect(stream.raw()).toMatch(/(?:^|\n\n): ping\n$/), { timeout: WAIT_MS, interval: 5 })
  await up.finish()
  await otherUp.finish()
  await Promise.all(wholes)
})

/** A server that writes as fast as the client takes it, and ends the stream when it is told. */
async function flood(whole: number, end: Promise<void> = Promise.resolve()) {
  const app = Fastify({ forceCloseConnections: true })
  const seen = { buffered: 0, written: 0, closed: Promise.withResolvers<void>() }
  app.get('/', async (_request, reply) => {
    const stream = openEventStream(reply)
    stream.signal.addEventListener('abort', () => seen.closed.resolve())
    const piece = 'x'.repeat(256 * 1024)
    while (seen.written < whole && !stream.signal.aborted) {
      await stream.write(piece)
      seen.written += piece.length
      seen.buffered = Math.max(seen.buffered, reply.raw.writableLength)
    }
    await end
    if (!stream.signal.aborted) stream.end()
  })
  const address = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(address.port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  return { app, seen, socket }
}

/** Resolves once nothing more is written: the client's and the system's buffers are full. */
async function stalled(seen: { written: number }): Promise<void> {
  for (let before = -1; before !== seen.written || seen.written === 0; ) {
    before = seen.written
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

verifies(
  'contract-3.heartbeat',
  'a client that takes nothing for 60 s is closed, and cannot grow memory until then',
  async () => {
    const { app, seen, socket } = await flood(1 << 30)
    socket.pause()
    await stalled(seen)
    expect(seen.written).toBeLessThan(64 << 20) // what the system's socket buffers hold
    expect(seen.buffered).toBeLessThan(512 * 1024)
    let open = true
    void seen.closed.promise.then(() => {
      open = false
    })
    vi.advanceTimersByTime(55_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(open).toBe(true)
    vi.advanceTimersByTime(10_000)
    await seen.closed.promise
    socket.destroy()
    await app.close()
  },
)

verifies(
  'contract-3.heartbeat',
  'a slow client that takes something is not closed, nor one that was slow once',
  async () => {
    const end = Promise.withResolvers<void>()
    const { app, seen, socket } = await flood(24 << 20, end.promise)
    socket.pause()
    await stalled(seen)
    let received = 0
    let tail = ''
    for (let round = 0; round < 5; round += 1) {
      vi.advanceTimersByTime(50_000) // 250 s altogether
      const before = seen.written
      while (seen.written === before && seen.written < 24 << 20) {
        received += socket.read()?.length ?? 0
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    socket.on('data', (bytes) => {
      received += bytes.length
      tail = (tail + bytes.subarray(-50).toString('latin1')).slice(-50)
    })
    socket.resume()
    await vi.waitFor(() => expect(received).toBeGreaterThan(24 << 20), { timeout: WAIT_MS })
    vi.advanceTimersByTime(90_000) // it takes everything now, there is only nothing to take
    await vi.waitFor(() => expect(tail).toContain(': ping\n'), { timeout: WAIT_MS })
    end.resolve()
    await vi.waitFor(() => expect(tail).toMatch(/\r\n0\r\n\r\n$/), { timeout: WAIT_MS }) // the last chunk: not cut off
    socket.destroy()
    await app.close()
  },
)

verifies(
  'contract-4.stored-before-shown',
  'a session’s client that stops reading stops neither the reply nor the others',
  async () => {
    const id = await scene.newSession()
    scene.up.always(async (one) => {
      for (let n = 0; n < 24; n += 1) await one.text('x'.repeat(1 << 20))
      await one.finish()
    })
    const { port } = new URL(scene.app.url)
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'x' }], stream: true })
    socket.pause()
    const path = `${scene.sessions}/${id}/chat/completions`
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    // Asked of the database: each read of the message would carry up to 24 MiB.
    const complete = () =>
      scene.app.sql`select 1 from messages where session_id = ${id} and role = 'assistant' and status = 'complete'`
    await vi.waitFor(async () => expect(await complete()).toHaveLength(1), { timeout: WAIT_MS, interval: 50 })
    expect((await scene.messages(id)).at(-1).content.length).toBe(24 << 20)
    vi.advanceTimersByTime(65_000)
    const subscribers = async () =>
      (await scene.call('GET', '/api/v1/debug/actors')).json.actors.find(
        (one: { sessionId: string }) => one.sessionId === id,
      )?.subscribers ?? 0
    await vi.waitFor(async () => expect(await subscribers()).toBe(0), { timeout: WAIT_MS, interval: 100 })
    socket.destroy()
  },
)

verifies('contract-3.heartbeat', 'a stream is not open whose client has left before it could begin', async () => {
  const app = Fastify({ forceCloseConnections: true })
  const asked = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<boolean>()
  app.get('/', async (_, reply) => {
    asked.resolve()
    await once(reply.raw, 'close')
    begun.resolve(openEventStream(reply).signal.aborted)
  })
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(url.port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await asked.promise
  socket.destroy()
  expect(await begun.promise).toBe(true)
  let isOver = false
  void streamsEnded(app.server, WAIT_MS).then(() => {
    isOver = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(true)
  await app.close()
})
