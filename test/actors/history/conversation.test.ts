/** Contract section 19: what a request is sent of a conversation, and what is known of it for the next one. */
import { expect } from 'vitest'
import { type Conversation, createComposer, createSending } from '../../../src/actors/history/conversation.ts'
import { tokensOfAll } from '../../../src/actors/history/estimate.ts'
import { storedConversation } from '../../../src/actors/history/history.ts'
import { sentSummary } from '../../../src/actors/history/sent-summary.ts'
import type { ModelMessage, ModelRequest, SentBefore } from '../../../src/actors/ports/index.ts'
import { givenConversation, restingGiven } from '../../../src/http/wires/shared/given-conversation.ts'
import { tokensOf } from '../../../src/untrusted/text-tokens.ts'
import { verifies } from '../../verifies.ts'

const asked = (content: string): ModelMessage => ({ role: 'user', content })

/** A conversation of turns of five tokens each, at the positions from `first` on. */
function conversation(count: number, changes: Partial<Conversation> = {}, first = 0): Conversation {
  const turns = Array.from({ length: count }, (_, index) => ({
    sent: [asked('a')],
    first: { role: 'user' as const, content: 'a', position: first + index },
    last: first + index,
  }))
  return { turns, newest: [asked('b')], isWhole: true, checkpoint: null, before: null, ...changes }
}
const turnTokens = tokensOfAll([asked('a')])
const checkpoint = { id: 'c', position: 3, summary: 'word '.repeat(40) }
const summaryTokens = tokensOf(sentSummary(checkpoint).pieces.join())
const known = (changes: Partial<SentBefore> = {}): SentBefore => ({
  ...{ from: 0, estimated: 100, reported: 100, left: null },
  ...changes,
})
const besides = { system: null, tools: [] }

verifies('contract-19.budget', 'prompt, tools and a summary take their room, which a report corrects', () => {
  const of = (changes: Partial<Conversation>) => createComposer(conversation(10, changes, 4))
  expect(of({}).room(1000, 100)).toBe(900)
  expect(of({ checkpoint, isWhole: false }).room(1000, 100)).toBe(900 - summaryTokens)
  expect(of({ before: known({ reported: 200 }) }).room(1000, 100)).toBe(400)
})

verifies(
  'contract-19.checkpoints',
  'what a summary covers was compacted; what was cut behind it keeps its reason',
  () => {
    const leftOf = (before: SentBefore | null) =>
      createComposer(conversation(10, { checkpoint, before, isWhole: false }, 4)).within(100_000, 0).left
    expect(leftOf(null)).toBe('compacted')
    expect(leftOf(known({ from: 4 }))).toBe('compacted')
    expect(leftOf(known({ from: 6, left: 'provider_limit' }))).toBe('provider_limit')
    expect(leftOf(known({ from: 6, left: 'budget' }))).toBe('budget')
  },
)

verifies(
  'contract-19.budget',
  'a reply begins where the one before it began, also where that was behind all turns',
  () => {
    const fromOf = (from: number) =>
      createComposer(conversation(10, { before: known({ from }) })).within(100_000, 0).from
    expect([fromOf(0), fromOf(6), fromOf(10)]).toEqual([0, 6, 10])
    const nothing = createComposer(conversation(0, { checkpoint, isWhole: false })).within(100_000, 0)
    expect(nothing.from).toBe(checkpoint.position + 1)
  },
)

verifies('contract-19.too-long', 'a shortened history holds its summary and is measured as the provider counts', () => {
  const whole = conversation(10, { checkpoint, isWhole: false, before: known({ from: 4, reported: 200 }) }, 4)
  const composer = createComposer(whole)
  const all = summaryTokens + 10 * turnTokens
  expect(composer.within(100_000, 0).historyTokens).toBe(2 * all)
  const shorter = composer.shortened(2 * (summaryTokens + 4 * turnTokens), 0)
  expect([shorter?.start, shorter?.left]).toEqual([6, 'provider_limit'])
  expect(composer.shortened(2 * all, 0)).toBeNull()
})

verifies('contract-19.too-long', 'what was too long for a model is not sent again within the reply', () => {
  const kept: SentBefore[] = []
  const before = known({ reported: 200 })
  const sending = createSending({ conversation: conversation(10, { before }), maxTokens: 100_000 }, besides, (sent) =>
    kept.push(sent),
  )
  const first = sending.next([])
  expect(first.messages).toHaveLength(11)
  const shorter = first.shortening?.to(2 * 4 * turnTokens)
  expect(shorter?.messages).toHaveLength(5)
  sending.counted({ ...shorter } as ModelRequest, 77)
  // Stored as it was estimated: the next reply corrects it anew.
  expect(kept).toEqual([{ from: 6, left: 'provider_limit', estimated: 5 * turnTokens, reported: 77 }])
  const turn: ModelMessage = { role: 'assistant', content: 'c' }
  const next = sending.next([turn])
  expect(next.messages).toHaveLength(6)
  expect(next.shortening?.tokens).toBe(2 * (5 * turnTokens + tokensOfAll([turn])))
})

verifies(
  'contract-32.compact-given',
  'behind a summary that a session begins with, an answer is a turn of its own',
  () => {
    const sentOf = (position: number) => {
      const messages = [{ role: 'assistant' as const, content: 'a', position }]
      const history = { messages, isWhole: false, checkpoint: { ...checkpoint, position: -1 }, before: null }
      return storedConversation(history, messages, { content: 'b', parts: [] }, false).turns.length
    }
    expect([sentOf(0), sentOf(1)]).toEqual([1, 0])
  },
)

verifies('contract-32.compact-given', 'of a given history behind a summary something was left out', () => {
  const leftOf = (summary: string | null) =>
    createComposer(givenConversation([asked('a'), asked('b')], null, summary)).within(100_000, 0).left
  expect([leftOf(null), leftOf('words')]).toEqual([null, 'compacted'])
  expect(restingGiven([asked('a'), asked('b')], null)).toMatchObject({ turns: [{}, {}], newest: [] })
  expect(restingGiven([], null).turns).toEqual([])
})
