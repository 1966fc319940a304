/**
 * Bytes from outside are read in portions, between which others have their turn (contract section 18): no matter how much
 * a socket or a decompressor hands over at once, and who reads it.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createModel } from '../../src/providers/model.ts'
import { readText } from '../../src/providers/request/fetch.ts'
import { mcpFetch } from '../../src/tools/mcp/mcp-fetch.ts'
import { readBytes, readChunks } from '../../src/tools/outbound/response-text.ts'
import { inPieces } from '../../src/untrusted/pieces.ts'
import { ask, requestTo } from '../providers/scene.ts'
import { verifies } from '../verifies.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** How often the event loop went round meanwhile. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const counting = (async () => {
    for (; !isOver; turns++) await turn()
  })()
  await work()
  isOver = true
  await counting
  return turns
}

/** Not an event among them: a reader of an event stream waits for one. */
const comments = (bytes: number) => Buffer.alloc(bytes, ':\n')

test('a large piece is cut, each part in a turn of its own', async () => {
  const taken: number[] = []
  const take = inPieces((piece) => void taken.push(piece.length))
  const turns = await turnsOf(async () => await take(comments(MIB)))
  expect(Math.max(...taken)).toBe(16 * KIB)
  expect(turns).toBeGreaterThanOrEqual(MIB / (16 * KIB))
})

test('small ones in a row are interrupted after 64 KiB', async () => {
  const take = inPieces(() => undefined)
  const waits = Array.from({ length: 32 }, () => take(comments(4 * KIB)) !== undefined)
  expect(waits.filter(Boolean)).toHaveLength(2)
  expect(waits[15]).toBe(true)
})

const rule = 'contract-18.no-freeze'

verifies(rule, 'a provider’s stream is read so', async () => {
  let waited: unknown
  const model = createModel({
    providerRetries: 0,
    idleTimeoutMs: 60_000,
    fetch: async () => ({
      status: 200,
      headers: new Headers(),
      cancel() {},
      async read(take) {
        waited = take(comments(64 * KIB))
        await waited
      },
    }),
  })
  expect(await turnsOf(() => ask(model, requestTo({ url: 'http://127.0.0.1:1/' })))).toBeGreaterThanOrEqual(4)
  expect(waited).toBeInstanceOf(Promise)
})

verifies(rule, 'a provider’s error is read so', async () => {
  const answer = {
    status: 500,
    headers: new Headers(),
    cancel() {},
    read: async (take: (bytes: Uint8Array) => Promise<void> | undefined) => await take(comments(MIB)),
  }
  expect(await turnsOf(() => readText(answer, 2 * MIB))).toBeGreaterThanOrEqual(64)
})

/** All of it is there at once, as from a decompressor. */
const bodyOf = (pieces: number, bytes: number) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let n = 0; n < pieces; n++) controller.enqueue(comments(bytes))
      controller.close()
    },
  })

verifies(rule, 'an HTTP tool’s answer is read so', async () => {
  const response = new Response(bodyOf(256, 16 * KIB)) as unknown as Parameters<typeof readBytes>[0]
  expect(await turnsOf(() => readBytes(response, 8 * MIB))).toBeGreaterThanOrEqual((4 * MIB) / (64 * KIB))
})

const byteByByte = (text: string): ReadableStream<Uint8Array> =>
  ReadableStream.from(Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte)))

verifies('contract-26.cost-of-bytes', 'a page that comes byte by byte is kept in few pieces', async () => {
  const text = 'x'.repeat(70 * KIB)
  const response = new Response(byteByByte(text)) as unknown as Parameters<typeof readChunks>[0]
  const { chunks, whole } = await readChunks(response, MIB)
  expect(whole).toBe(true)
  expect(chunks.map(({ length }) => length)).toEqual([64 * KIB, 6 * KIB])
  expect(Buffer.concat(chunks).toString()).toBe(text)
})

/** What the SDK is given of an MCP server's answer. */
async function mcpAnswer(type: string, body: ReadableStream<Uint8Array> | string): Promise<Response> {
  const headers = { 'content-type': type }
  const outbound = { fetch: async () => new Response(body, { headers }) } as unknown as Parameters<typeof mcpFetch>[0]
  const fetch = mcpFetch(outbound, { failure: null, onEventsOpen() {}, onEventsEnd() {} }, false)
  return await fetch('http://127.0.0.1:1/', { method: 'POST', body: '{}' })
}

const [events, json] = ['text/event-stream', 'application/json']

for (const type of [events, json]) {
  verifies(rule, `an MCP server’s answer is read so: ${type}`, async () => {
    const read = async () => (await mcpAnswer(type, bodyOf(64, 64 * KIB))).arrayBuffer()
    expect(await turnsOf(read)).toBeGreaterThanOrEqual((4 * MIB) / (64 * KIB) / 2)
  })
}

verifies('contract-26.cost-of-bytes', 'an MCP server’s answer that comes byte by byte is kept so too', async () => {
  const { body } = await mcpAnswer(json, byteByByte('x'.repeat(70 * KIB)))
  const lengths: number[] = []
  for await (const piece of body ?? []) lengths.push(piece.length)
  expect(lengths).toEqual([64 * KIB, 6 * KIB])
})

verifies(rule, 'of an MCP server’s events a few come at once', async () => {
  const ping = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n\n`
  const { body } = await mcpAnswer(events, ping.repeat(1000))
  const counts: number[] = []
  for await (const piece of body ?? []) counts.push(Buffer.from(piece).toString().split('\n\n').length - 1)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1000)
  expect(Math.max(...counts)).toBeLessThanOrEqual(20)
})

verifies(rule, 'an MCP server’s message is read up to its limits', async () => {
  const words = (bytes: number) => `"${'x'.repeat(bytes)}"`
  const values = (count: number) => `[${'0,'.repeat(count)}0]`
  const event = (data: string) => `data: ${data}\n\n`
  const faultOf = async (type: string, body: string) =>
    await (await mcpAnswer(type, body)).text().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : error),
    )
  const [large, many] = ['An answer is larger than 8 MiB.', 'An answer holds more than 40000 values.']
  expect(await faultOf(json, words(7 * MIB))).toBeNull()
  expect(await faultOf(json, words(9 * MIB))).toBe(large)
  expect(await faultOf(json, values(39_000))).toBeNull()
  expect(await faultOf(json, values(41_000))).toBe(many)
  // The stream itself has no limit, each event has.
  expect(await faultOf(events, event(words(5 * MIB)).repeat(2) + event(values(30_000)).repeat(2))).toBeNull()
  expect(await faultOf(events, event(words(9 * MIB)))).toBe(large)
  expect(await faultOf(events, event(values(41_000)))).toBe(many)
})
