/** Titles that a model makes: what it is asked, and what is made of its answer. */
import { expect, test } from 'vitest'
import type { ModelEvent } from '../../../src/actors/ports/index.ts'
import { unobserved } from '../../../src/actors/ports/observer.ts'
import { askForTitle, titleOf, titleRequest } from '../../../src/features/titles/model-title.ts'
import { leastOfSeveral, longestTurn } from '../../support/measures/longest-turn.ts'
import { told } from '../../support/streams/model-stream.ts'
import { verifies } from '../../verifies.ts'

const agent = { provider: { id: 'p', type: 'openai', baseUrl: null, apiKey: 'k' }, model: 'm' }

verifies('contract-1.title-model', 'one line, without what models wrap around it, at most 60 characters', () => {
  const titles: [string, string | null][] = [
    ['Comparing two quotations', 'Comparing two quotations'],
    ['"Comparing two quotations."', 'Comparing two quotations'],
    ['**Title: “Comparing quotations”**\n', 'Comparing quotations'],
    ['\n\n# Title\r\nand more\r\n', 'Title'],
    ['Title: A\u2028B', 'A'],
    ['<think>What could it be?\nHm.</think>\n\nBread', 'Bread'],
    ['<think>What could it be', null],
    ['Wait…', 'Wait…'],
    ['And so on...', 'And so on...'],
    ['Where to?', 'Where to?'],
    ['«Хлеб и вода».', 'Хлеб и вода'],
    ['パンと水。', 'パンと水'],
    ['a\u0000b \ud800', 'a\ufffdb \ufffd'],
    ["The baker's dozen", "The baker's dozen"],
    [`${'word '.repeat(20)}`, 'word '.repeat(12).trim()],
    ['', null],
    [' \n "" \n', null],
  ]
  for (const [answer, title] of titles) expect([answer, titleOf(answer)]).toEqual([answer, title])
})

verifies('contract-26.cost-of-bytes', 'an answer of blanks', async () => {
  const answers = [`a${' '.repeat(60_000)}b`, `a${'*'.repeat(19_000)}b`, '<think>'.repeat(3000)]
  const spent = await leastOfSeveral(500, () => longestTurn(async () => void answers.map(titleOf)))
  expect(spent).toBeLessThan(500)
})

test('the agent’s provider and model are asked, with neither its prompt nor its tools', () => {
  const request = titleRequest(agent, { question: 'Why?', answer: 'Because.' })
  expect(request).toMatchObject({ ...agent, config: { temperature: 0.2, maxToolCalls: 0 } })
  expect(request.messages).toEqual([
    { role: 'user', content: 'Give this conversation a title.\n\nUser: Why?\n\nAssistant: Because.' },
  ])
  const [alone] = titleRequest(agent, { question: 'Why?', answer: '' }).messages
  expect(alone?.content).toBe('Give this conversation a title.\n\nUser: Why?')
})

const countTokens = async (texts: readonly string[]) => texts.map(({ length }) => length)

test('a failed call rejects with its words; an endless answer is cut off; an abort rejects', async () => {
  const request = titleRequest(agent, { question: 'Why?', answer: '' })
  const ask = (events: () => AsyncGenerator<ModelEvent>, signal = new AbortController().signal) =>
    askForTitle(
      { request, model: { stream: told(events), countTokens }, timeoutMs: 10_000, observer: unobserved },
      signal,
    )
  const failure = { code: 'provider_error', message: 'No.', detail: 'No, never.' } as const
  await expect(
    ask(async function* () {
      yield { type: 'failed', failure }
    }),
  ).rejects.toThrow('No, never.')
  const endless = await ask(async function* () {
    for (;;) yield { type: 'text', text: 'on and ' }
  })
  expect(endless.length).toBeLessThan(30_000)
  await expect(ask(async function* () {}, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
})
