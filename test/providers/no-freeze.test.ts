/**
 * Nothing that a provider sends holds the event loop: contract section 18, 250 ms of a quiet machine. What an upstream
 * can send within a second is sent at once; see longest-turn.ts for what is measured.
 */
import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { longestTurn } from '../support/longest-turn.ts'
import { verifies } from '../verifies.ts'
import { event } from './anthropic-server.ts'
import { open } from './native-scene.ts'
import { ask, failureIn, requestTo, scene } from './scene.ts'

const LIMIT_MS = 250
const MIB = 1024 * 1024
const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
const call = (part: object) => chunk({ tool_calls: [part] })

/** `count` times the same, never whole in memory. */
const repeated = (text: string, bytes: number) => gzipSync(Buffer.alloc(bytes, text), { level: 9 })

describe('chat completions', () => {
  const cases: [string, () => string | Uint8Array][] = [
    ['300 MiB of blanks in gzip', () => repeated(' ', 300 * MIB)],
    ['300 MiB of blank lines in gzip', () => repeated('\n', 300 * MIB)],
    [
      '64 MiB of carriage returns behind a comment',
      () => Buffer.concat([Buffer.from(': x\r'), Buffer.alloc(64 * MIB, '\r')]),
    ],
    ['300 MiB of comments in gzip', () => repeated(': p\n', 300 * MIB)],
    ['an event of a million empty lists', () => `data: {"choices":[${'[],'.repeat(MIB)}0]}\n\n`],
    [
      'an event with half a million names',
      () => `data: {${Array.from({ length: MIB / 2 }, (_, i) => `"k${i}":0`).join()}}\n\n`,
    ],
    ['an answer without streaming of a million values', () => `{"choices":[${'{},'.repeat(MIB)}0]}`],
    [
      '100,000 tool calls',
      () => Array.from({ length: 100_000 }, (_, i) => call({ id: `i${i}`, function: { name: 'f' } })).join(''),
    ],
    [
      'arguments that are whole again with each delta',
      () =>
        call({ index: 0, function: { name: 'f', arguments: `{"a":"${'x'.repeat(MIB / 2)}` } }) +
        call({ index: 0, function: { name: 'f', arguments: '"}' } }).repeat(5000),
    ],
    ['8 MiB of text in one event', () => chunk({ content: 'x'.repeat(8 * MIB) })],
    ['a million small texts', () => chunk({ content: 'x' }).repeat(200_000)],
  ]
  for (const [name, bytesOf] of cases) {
    verifies('contract-18.no-freeze', name, async () => {
      const bytes = bytesOf()
      const { up, model } = await scene({ providerRetries: 0 })
      const isGzip = typeof bytes !== 'string' && bytes[0] === 0x1f
      up.always(async (upstream) => {
        upstream.open(isGzip ? { 'content-encoding': 'gzip' } : {})
        await upstream.raw(bytes)
        upstream.end()
      })
      const longest = await longestTurn(async () => {
        expect(failureIn(await ask(model, requestTo(up))).code).toBe('provider_error')
      })
      expect(longest).toBeLessThan(LIMIT_MS)
    })
  }
})

verifies('contract-18.no-freeze', 'Anthropic: a million blocks', async () => {
  const { up, model, request } = await open('anthropic', { providerRetries: 0 })
  const block = event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '' } })
  up.always(async (upstream) => {
    await upstream.raw(block.repeat(100_000))
    upstream.end()
  })
  const longest = await longestTurn(async () => {
    expect(failureIn(await ask(model, request())).code).toBe('provider_error')
  })
  expect(longest).toBeLessThan(LIMIT_MS)
})
