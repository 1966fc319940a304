/**
 * Nothing that a provider sends holds the event loop: contract section 18, 250 ms of a quiet machine. What an upstream
 * can send within a second is sent at once; see longest-turn.ts for what is measured.
 */
import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { leastOfSeveral, longestTurn } from '../support/measures/longest-turn.ts'
import { verifies } from '../verifies.ts'
import { event } from './native/anthropic-server.ts'
import { open } from './native/native-scene.ts'
import { ask, failureIn, requestTo, scene, textOf } from './scene.ts'

const LIMIT_MS = 250
const MIB = 1024 * 1024
const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
const call = (part: object) => chunk({ tool_calls: [part] })
/** Read no further than it has to be: what comes after it holds a reply for as long as it comes. */
const endless = 'characters without an end'

/** `count` times the same, never whole in memory. */
const repeated = (text: string, bytes: number) => gzipSync(Buffer.alloc(bytes, text), { level: 9 })

describe('chat completions', () => {
  /** Name, answer, and what the failure tells where that says which guard has ended it. */
  const cases: [string, () => string | Uint8Array, string?][] = [
    ['300 MiB of blanks in gzip', () => repeated(' ', 300 * MIB), endless],
    ['300 MiB of blank lines in gzip', () => repeated('\n', 300 * MIB), endless],
    [
      '64 MiB of carriage returns behind a comment',
      () => Buffer.concat([Buffer.from(': x\r'), Buffer.alloc(64 * MIB, '\r')]),
      endless,
    ],
    ['300 MiB of comments in gzip', () => repeated(': p\n', 300 * MIB), endless],
    // As long as an event may be: their values are what costs.
    ['an event of 600,000 empty lists', () => `data: {"choices":[${'[],'.repeat(600_000)}0]}\n\n`],
    [
      'an event with 150,000 names',
      () => `data: {${Array.from({ length: 150_000 }, (_, i) => `"k${i}":0`).join()}}\n\n`,
    ],
    ['an answer without streaming of 600,000 values', () => `{"choices":[${'{},'.repeat(600_000)}0]}`],
    ['16 MiB of an answer without streaming', () => `{"a":"${'x'.repeat(16 * MIB)}`, endless],
    [
      '100,000 tool calls',
      () => Array.from({ length: 100_000 }, (_, i) => call({ id: `i${i}`, function: { name: 'f' } })).join(''),
    ],
    [
      'arguments of 250,000 values that are whole again with each delta',
      () =>
        call({ index: 0, id: 'i', function: { name: 'f', arguments: `{"a":[${'[],'.repeat(250_000)}0]}` } }) +
        call({ index: 0, function: { arguments: ' ' } }).repeat(500),
    ],
    [
      '2 MiB of arguments',
      () => call({ index: 0, id: 'i', function: { name: 'f', arguments: 'x'.repeat(64 * 1024) } }).repeat(32),
      'tool arguments beyond 1 MiB',
    ],
    ['8 MiB of text in one event', () => chunk({ content: 'x'.repeat(8 * MIB) })],
    ['a million small texts', () => chunk({ content: 'x' }).repeat(200_000)],
  ]
  for (const [name, bytesOf, detail = ''] of cases) {
    verifies('contract-18.no-freeze', name, async () => {
      const bytes = bytesOf()
      const { up, model } = await scene({ providerRetries: 0 })
      const isGzip = typeof bytes !== 'string' && bytes[0] === 0x1f
      up.always(async (upstream) => {
        upstream.open(isGzip ? { 'content-encoding': 'gzip' } : {})
        await upstream.raw(bytes)
        upstream.end()
      })
      const reply = async () => {
        expect(failureIn(await ask(model, requestTo(up)))).toMatchObject({
          code: 'provider_error',
          detail: expect.stringContaining(detail),
        })
      }
      const longest = await leastOfSeveral(LIMIT_MS, () => longestTurn(reply))
      expect(longest).toBeLessThan(LIMIT_MS)
    })
  }
})

verifies('contract-18.no-freeze', 'an event with more values than any model sends is not parsed', async () => {
  const { up, model } = await scene({ providerRetries: 0 })
  const event = (more: number) =>
    `data: {"choices":[{"index":0,"delta":{"content":"So"}}],"more":[${'0,'.repeat(more)}0]}\n\n`
  up.always(async (upstream) => {
    await upstream.raw(event(upstream.number === 1 ? 15_000 : 25_000))
    await upstream.finish()
  })
  expect(textOf(await ask(model, requestTo(up)))).toBe('So')
  expect(failureIn(await ask(model, requestTo(up))).code).toBe('provider_error')
})

verifies('contract-18.no-freeze', 'Anthropic: a million blocks', async () => {
  const { up, model, request } = await open('anthropic', { providerRetries: 0 })
  const block = event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '' } })
  up.always(async (upstream) => {
    await upstream.raw(block.repeat(100_000))
    upstream.end()
  })
  const reply = async () => expect(failureIn(await ask(model, request())).code).toBe('provider_error')
  const longest = await leastOfSeveral(LIMIT_MS, () => longestTurn(reply))
  expect(longest).toBeLessThan(LIMIT_MS)
})
