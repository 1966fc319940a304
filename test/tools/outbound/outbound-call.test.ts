/** Provider calls through the outbound guard: bytes from the socket to the consumer (contract section 6). */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import type { OutboundAnswer } from '../../../src/tools/outbound/outbound-call.ts'
import { OutboundError } from '../../../src/tools/outbound/outbound-error.ts'
import { verifies } from '../../verifies.ts'

const outbound = createOutbound({ policy: 'standard', allow: [] })
afterAll(() => outbound[Symbol.asyncDispose]())

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const get = (url: string, signal = new AbortController().signal) =>
  outbound.call(url, { method: 'GET', headers: { 'x-mine': '1' }, signal })

async function textOf(answer: OutboundAnswer): Promise<string> {
  const pieces: Uint8Array[] = []
  await answer.read((bytes) => {
    pieces.push(Uint8Array.from(bytes))
    return undefined
  })
  return Buffer.concat(pieces).toString()
}

async function lengthOf(answer: OutboundAnswer): Promise<number> {
  let length = 0
  await answer.read((bytes) => {
    length += bytes.length
    return undefined
  })
  return length
}

test('head first, then the body; a redirect is a response like any other', async () => {
  const url = await serve((request, response) => {
    response.writeHead(307, { location: '/else', 'x-seen': `${request.method} ${request.headers['x-mine']}` })
    response.end('moved')
  })
  const answer = await get(url)
  expect([answer.status, answer.headers.get('location'), answer.headers.get('x-seen')]).toEqual([307, '/else', 'GET 1'])
  expect(await textOf(answer)).toBe('moved')
})

test('while there is no room nothing more is read, and the sender gets back-pressure', async () => {
  let written = 0
  const whole = 64 * 1024 * 1024
  const url = await serve(async (_, response) => {
    const piece = Buffer.alloc(64 * 1024, 'x')
    for (; written < whole && !response.destroyed; written += piece.length) {
      if (!response.write(piece)) await once(response, 'drain')
    }
    response.end()
  })
  const room = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  let taken = 0
  const answer = await get(url)
  const reading = answer.read((bytes) => {
    const isFirst = taken === 0
    taken += bytes.length
    if (isFirst) first.resolve()
    return isFirst ? room.promise : undefined
  })
  await first.promise
  const atFirst = taken
  // A parallel call shows that the loop ran on while this one was not read.
  expect(await textOf(await get(await serve((_, response) => void response.end('beside'))))).toBe('beside')
  expect(taken).toBe(atFirst)
  expect(written).toBeLessThan(whole)
  room.resolve()
  await reading
  expect(taken).toBe(whole)
})

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('a body encoded as %s is decoded although that was not requested', async (encoding, pack) => {
  const said = 'data: {"choices":[]}\n\n'.repeat(5000)
  const url = await serve((request, response) => {
    expect(request.headers['accept-encoding']).toBe('identity')
    response.setHeader('content-encoding', encoding).end(pack(said))
  })
  expect(await textOf(await get(url))).toBe(said)
})

test('nor is anything more read of an encoded body, and nothing more of it is decoded', async () => {
  const whole = 32 * 1024 * 1024
  // Not compressed: as much has to travel as is decoded.
  const packed = gzipSync(Buffer.alloc(whole, 'x'), { level: 0 })
  const piece = 64 * 1024
  let written = 0
  const url = await serve(async (_, response) => {
    response.setHeader('content-encoding', 'gzip')
    for (; written < packed.length && !response.destroyed; written += piece) {
      if (!response.write(packed.subarray(written, written + piece))) await once(response, 'drain')
    }
    response.end()
  })
  const room = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  let taken = 0
  const answer = await get(url)
  const reading = answer.read((bytes) => {
    const isFirst = taken === 0
    taken += bytes.length
    if (isFirst) first.resolve()
    return isFirst ? room.promise : undefined
  })
  await first.promise
  const atFirst = taken
  // The same bytes beside show that there was time enough.
  const beside = await serve((_, response) => void response.setHeader('content-encoding', 'gzip').end(packed))
  expect(await lengthOf(await get(beside))).toBe(whole)
  expect(taken).toBe(atFirst)
  expect(written).toBeLessThan(packed.length)
  room.resolve()
  await reading
  expect(taken).toBe(whole)
})

test('a body that is malformed or breaks off rejects', async () => {
  const bad = await serve((_, response) => void response.setHeader('content-encoding', 'gzip').end('no gzip'))
  await expect(textOf(await get(bad))).rejects.toThrow('incorrect header check')
  const broken = await serve((_, response) => {
    response.write('half')
    setImmediate(() => response.destroy())
  })
  await expect(textOf(await get(broken))).rejects.toThrow()
})

test('an abort rejects with its reason at every stage, and closes the connection', async () => {
  const reason = new Error('enough')
  await expect(get('http://127.0.0.1:9/', AbortSignal.abort(reason))).rejects.toBe(reason)

  const asked = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const silent = await serve((_, response) => {
    response.on('close', closed.resolve)
    asked.resolve()
  })
  const before = new AbortController()
  const waiting = get(silent, before.signal)
  await asked.promise
  before.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await closed.promise

  const gone = Promise.withResolvers<void>()
  const endless = await serve((_, response) => {
    response.on('close', gone.resolve)
    response.write('on')
  })
  const within = new AbortController()
  const answer = await get(endless, within.signal)
  const reading = answer.read(() => {
    within.abort(reason)
    return undefined
  })
  await expect(reading).rejects.toBe(reason)
  await gone.promise
})

verifies('contract-2.provider-test', 'nor does a resolver that never answers delay it', async () => {
  await using unresolved = createOutbound({ policy: 'standard', allow: [], lookup: () => new Promise(() => {}) })
  const stop = new AbortController()
  const call = unresolved.call('http://name.test/', { method: 'GET', headers: {}, signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
})

test('a call that is aborted while its address is looked up is not made afterwards', async () => {
  const looked = Promise.withResolvers<{ address: string; family: number }[]>()
  const requests: string[] = []
  const port = new URL(await serve(({ url = '' }, response) => void response.end(String(requests.push(url))))).port
  await using late = createOutbound({ policy: 'standard', allow: [], lookup: () => looked.promise })
  const call = (path: string, signal: AbortSignal) =>
    late.call(`http://name.test:${port}${path}`, { method: 'POST', headers: {}, body: '{}', signal })
  const stop = new AbortController()
  const aborted = call('/aborted', stop.signal)
  const going = call('/going', new AbortController().signal)
  stop.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  looked.resolve([{ address: '127.0.0.1', family: 4 }])
  await textOf(await going)
  expect(requests).toEqual(['/going'])
})

test('a consumer that fails ends the call with its own error; cancel closes the connection', async () => {
  const closed = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let calls = 0
  const url = await serve((_, response) => {
    response.on('close', closed[calls++]?.resolve ?? (() => {}))
    response.write('on')
  })
  const fault = new Error('a fault')
  await expect((await get(url)).read(() => Promise.reject(fault))).rejects.toBe(fault)
  await closed[0]?.promise
  ;(await get(url)).cancel()
  await closed[1]?.promise
})

verifies('contract-6.outbound', 'a provider call goes through the same guard', async () => {
  await expect(get('http://169.254.169.254/')).rejects.toBeInstanceOf(OutboundError)
  await expect(get('ftp://127.0.0.1/')).rejects.toBeInstanceOf(OutboundError)
})
