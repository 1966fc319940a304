/**
 * Streams write their chunks themselves (sse.ts): what a socket gets is read here byte by byte (RFC 9112, section 7.1).
 * `setInterval` and the monotonic clock are the test's, for heartbeats; all else is real.
 */
import { once } from 'node:events'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type EventStream, openEventStream } from '../../../src/http/streaming/sse.ts'
import { verifies } from '../../verifies.ts'
import { type Connection, openConnection } from './wire-connection.ts'

interface Opened {
  stream: EventStream
  /** Bytes that its socket has not passed on to the system yet. */
  pending(): number
}

let app: FastifyInstance
let port: number
/** The streams that were asked for, by their names. */
let streams: Map<string, PromiseWithResolvers<Opened>>
const opened = (name: string) => {
  const known = streams.get(name) ?? Promise.withResolvers<Opened>()
  streams.set(name, known)
  return known
}
const streamOf = async (name: string) => (await opened(name).promise).stream

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  streams = new Map()
  app = Fastify({ forceCloseConnections: true })
  app.get('/plain', async () => ({ plain: true }))
  app.get<{ Params: { name: string } }>('/streams/:name', async ({ params }, reply) => {
    const stream = openEventStream(reply, { gathers: params.name === 'gathers' })
    opened(params.name).resolve({ stream, pending: () => reply.raw.socket?.writableLength ?? 0 })
  })
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
})
afterEach(async () => {
  await app.close()
  vi.useRealTimers()
})

/** An ordinary request is answered on this connection: nothing is left of what came before. */
async function expectInOrder(connection: Connection): Promise<void> {
  expect(connection.left()).toBe(0)
  connection.ask('/plain')
  expect(await connection.head()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect((await connection.take(14)).toString()).toBe('{"plain":true}')
}

const chunkedHead = /^HTTP\/1\.1 200 OK\r\n(?=.*\r\ntransfer-encoding: chunked).*content-type: text\/event-stream/is

test('a stream is well-formed chunks, each as long as it says, and the connection serves on', async () => {
  const connection = await openConnection(port)
  const large = '€'.repeat(20_000) // cut into pieces, in the middle of codepoints
  for (const name of ['first', 'second']) {
    connection.ask(`/streams/${name}`)
    expect(await connection.head()).toMatch(chunkedHead)
    const stream = await streamOf(name)
    for (const text of ['a', 'é€😀', 'x'.repeat(255), 'x'.repeat(256)]) {
      await stream.write(text)
      expect(await connection.chunk()).toBe(text)
    }
    const writing = stream.write(large)
    expect(Buffer.concat([await connection.take(6), await connection.take(16_384), await connection.take(2)])).toEqual(
      Buffer.concat([Buffer.from('4000\r\n'), Buffer.from(large).subarray(0, 16_384), Buffer.from('\r\n')]),
    )
    await writing
    let length = 16_384
    for (const expected of [16_384, 16_384, 10_848]) {
      const head = `${expected.toString(16)}\r\n`
      expect((await connection.take(head.length)).toString()).toBe(head)
      const piece = await connection.take(expected)
      expect(piece.equals(Buffer.from(large).subarray(length, length + expected))).toBe(true)
      expect((await connection.take(2)).toString()).toBe('\r\n')
      length += expected
    }
    stream.end()
    expect(await connection.chunks()).toEqual([])
    await expectInOrder(connection)
  }
  connection.socket.destroy()
})

test('a text is with the system when the write returns; where they are gathered, at the next tick', async () => {
  const connection = await openConnection(port)
  for (const name of ['one', 'gathers']) {
    connection.ask(`/streams/${name}`)
    const { stream, pending } = await opened(name).promise
    await connection.head()
    for (const text of ['several', 'texts']) stream.write(text)
    expect(pending() > 0).toBe(name === 'gathers')
    await new Promise((resolve) => process.nextTick(resolve))
    expect(pending()).toBe(0)
    stream.end()
    expect(await connection.chunks()).toEqual(['several', 'texts'])
  }
  connection.socket.destroy()
})

test('an empty write does not end the stream', async () => {
  const connection = await openConnection(port)
  connection.ask('/streams/one')
  await connection.head()
  const stream = await streamOf('one')
  for (const piece of ['a', '', 'b']) stream.write(piece)
  stream.end()
  expect(await connection.chunks()).toEqual(['a', 'b'])
  await expectInOrder(connection)
  connection.socket.destroy()
})

test('two pipelined streams are answered in order and whole, though the second has ended first', async () => {
  const connection = await openConnection(port)
  connection.ask('/streams/one')
  connection.ask('/streams/two')
  const [one, two] = [await streamOf('one'), await streamOf('two')]
  one.write('one é')
  two.write('two €')
  two.write('two 😀')
  two.end()
  one.write('one again')
  expect(await connection.head()).toMatch(chunkedHead)
  expect([await connection.chunk(), await connection.chunk()]).toEqual(['one é', 'one again'])
  expect(connection.left()).toBe(0)
  one.end()
  expect(await connection.chunk()).toBeNull()
  expect(await connection.head()).toMatch(chunkedHead)
  expect(await connection.chunks()).toEqual(['two €', 'two 😀'])
  await expectInOrder(connection)
  connection.socket.destroy()
})

test('a pipelined stream that fills up before its turn takes more when its turn has come', async () => {
  const connection = await openConnection(port)
  connection.ask('/streams/one')
  connection.ask('/streams/two')
  const [one, two] = [await streamOf('one'), await streamOf('two')]
  const large = 'x'.repeat(1 << 20)
  let isWritten = false
  const writing = Promise.resolve(two.write(large)).then(() => {
    isWritten = true
    two.end()
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isWritten).toBe(false)
  one.end()
  await connection.head()
  expect(await connection.chunks()).toEqual([])
  await connection.head()
  expect((await connection.chunks()).join('')).toBe(large)
  await writing
  connection.socket.destroy()
})

test('HTTP/1.0 gets no chunks, heartbeats neither, and the connection closes at the end', async () => {
  const connection = await openConnection(port)
  connection.ask('/streams/one', { version: '1.0' })
  const head = await connection.head()
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(head).not.toMatch(/transfer-encoding/i)
  const stream = await streamOf('one')
  for (const piece of ['é€😀', 'bytes']) stream.write(piece)
  await connection.take(Buffer.byteLength('é€😀bytes'))
  vi.advanceTimersByTime(17_000)
  stream.write('last')
  stream.end()
  expect(await connection.rest()).toBe(': ping\nlast')
})

verifies('contract-3.heartbeat', 'a heartbeat is a chunk of its own', async () => {
  const connection = await openConnection(port)
  connection.ask('/streams/one')
  await connection.head()
  const stream = await streamOf('one')
  stream.write('é')
  expect(await connection.chunk()).toBe('é')
  for (let round = 0; round < 2; round += 1) {
    vi.advanceTimersByTime(17_000)
    expect(await connection.chunk()).toBe(': ping\n')
  }
  stream.write('€')
  stream.end()
  expect(await connection.chunks()).toEqual(['€'])
  await expectInOrder(connection)
  connection.socket.destroy()
})

test('HEAD gets the head alone, though the stream is written to, and the connection serves on', async () => {
  const connection = await openConnection(port)
  connection.ask('/streams/one', { method: 'HEAD' })
  expect(await connection.head()).toMatch(/content-type: text\/event-stream/)
  const stream = await streamOf('one')
  for (const piece of ['é', 'bytes', 'x'.repeat(40_000)]) await stream.write(piece)
  vi.advanceTimersByTime(17_000)
  stream.end()
  await expectInOrder(connection)
  connection.socket.destroy()
})

test('clients that leave in the middle are noticed, whatever is written or waits, and others are served on', async () => {
  const [staying, leaving] = [await openConnection(port), await openConnection(port)]
  staying.ask('/streams/staying')
  leaving.ask('/streams/leaving')
  leaving.ask('/streams/behind')
  const [stream, ...left] = [await streamOf('staying'), await streamOf('leaving'), await streamOf('behind')]
  leaving.socket.pause()
  const writing = left.map((one) => one.write('x'.repeat(16 << 20)))
  await new Promise((resolve) => setImmediate(resolve))
  leaving.socket.destroy()
  await Promise.all(writing)
  for (const one of left) {
    if (!one.signal.aborted) await once(one.signal, 'abort')
    expect(one.write('too late')).toBeUndefined()
    one.end()
  }
  stream.write('é')
  stream.end()
  await staying.head()
  expect(await staying.chunks()).toEqual(['é'])
  await expectInOrder(staying)
  staying.socket.destroy()
})

test('a stream that is broken off has no last chunk', async () => {
  const connection = await openConnection(port)
  connection.ask('/streams/one')
  await connection.head()
  const stream = await streamOf('one')
  stream.write('a')
  expect(await connection.chunk()).toBe('a')
  stream.destroy()
  expect(await connection.rest()).toBe('')
})
