/** Every recorded answer of a vendor gives the text, reasoning, calls, usage and end that it says, however it is split. */
import { describe, expect, test } from 'vitest'
import type { ModelEvent, ProviderConnection } from '../../../src/actors/ports/index.ts'
import { createModel } from '../../../src/providers/model.ts'
import { verifies } from '../../verifies.ts'
import { ask, connectionTo, requestTo } from '../scene.ts'
import { type Said, said } from './oracle.ts'
import { type Exchange, folder, player, type Recording, readRecordings, type Split } from './recordings.ts'

const providerOf = (type: string): ProviderConnection =>
  type === 'responses'
    ? { ...connectionTo('https://vendor.example/v1', 'openai'), wireApi: 'responses' }
    : connectionTo('https://vendor.example/v1', type)

function heardIn(events: readonly ModelEvent[]): Said {
  const joined = (type: 'text' | 'reasoning') => events.map((event) => (event.type === type ? event.text : '')).join('')
  const last = events.at(-1)
  if (last?.type !== 'end') return { text: '', reasoning: '', calls: [], usage: null, end: last?.type ?? 'none' }
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
  const usage = last.usage && {
    promptTokens: last.usage.promptTokens,
    completionTokens: last.usage.completionTokens,
  }
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    calls: calls.map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) })),
    usage,
    end: last.reason,
  }
}

async function replay(recording: Recording, exchange: Exchange, split: Split, seed: number): Promise<Said> {
  await using model = createModel({
    fetch: player(exchange.response, split, seed),
    providerRetries: 0,
    idleTimeoutMs: 60_000,
  })
  const asked = exchange.request?.model ?? recording.about.model ?? 'model-a'
  return heardIn(
    await ask(model, requestTo(null, { provider: providerOf(recording.about.type), model: asked, reasoning: true })),
  )
}

const empty = { status: 500, headers: {}, body: '' }

const splits: Split[] = ['whole', 'at random bytes', 'slowly']

describe.skipIf(folder === null)('recordings', () => {
  describe.each(
    readRecordings().filter(({ about }) => said({ request: null, response: empty }, about.type) !== null),
  )('$name', (recording) => {
    test.each(
      [recording, ...(recording.next ?? [])].map((exchange, turn) => ({ turn, exchange })),
    )('exchange $turn', async ({ exchange, turn }) => {
      const expected = said(exchange, recording.about.type)
      for (const split of splits) expect(await replay(recording, exchange, split, turn + 1), split).toEqual(expected)
    })
  })
})

verifies('contract-19.recordings', 'the recordings are replayed where they are there', () => {
  const exchanges = readRecordings().flatMap((recording) => [recording, ...(recording.next ?? [])])
  expect(folder === null || exchanges.length > 100).toBe(true)
})
