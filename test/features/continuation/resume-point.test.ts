/** Where a reply goes on is read from its events and its stored turns. */
import { expect } from 'vitest'
import { noActions } from '../../../src/actors/generate/defaults.ts'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import type { DecidedCall, StoredTurn } from '../../../src/actors/ports/index.ts'
import type { ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { capabilities } from '../../../src/compose/capabilities.ts'
import type { Claimed } from '../../../src/features/continuation/handovers.ts'
import { resumePoint } from '../../../src/features/continuation/resume-point.ts'
import { resumption } from '../../../src/features/continuation/resumption.ts'
import { end, never, request, say, script } from '../../actors/generate/generation-scene.ts'
import { verifies } from '../../verifies.ts'

const startedAt = '2026-01-01T00:00:00.000Z'
const call = (id: string): ReplyEvent => ({ type: 'tool_call', id, name: 'look', arguments: '{}', startedAt })
const result = (id: string): ReplyEvent => ({ type: 'tool_result', id, ok: true, content: `of ${id}`, durationMs: 1 })
const text = (words: string): ReplyEvent => ({ type: 'text', text: words })

const stored = (ids: string[], spent: number): StoredTurn => ({
  turn: {
    answer: {
      role: 'assistant',
      content: 'Look: ',
      toolCalls: ids.map((id) => ({ id, name: 'look', arguments: '{}' })),
      echo: { kept: ids },
    },
    results: [],
    waiting: ids.map(() => null),
  },
  spent,
  used: { promptTokens: 7, completionTokens: 3, estimated: false },
  attempts: 1,
  firstTokenMs: 5,
  reasoningMs: null,
})

const pointOf = (
  events: readonly ReplyEvent[],
  turns: readonly StoredTurn[] = [],
  continued: Claimed['continued'] = null,
) =>
  resumePoint(
    {
      reply: {
        id: 'r',
        sessionId: 's',
        sessionNum: 1,
        firstSeq: 1,
        model: 'm',
        createdAt: startedAt,
        includeUsage: false,
        instanceId: 'i',
        epoch: 1,
      },
      events: events.map((event, index) => ({ seq: index, part: 0, event })),
      turns,
      noted: { firstTokenMs: null, attempts: 0, turns: 0, tools: 0 },
      providerId: 'p',
      continued,
    } as unknown as Claimed, // the rest is not read
    () => undefined,
  )

verifies('contract-21.calls', 'a whole turn stays whole, with what its vendor wants back', () => {
  const point = pointOf([text('Look: '), call('a'), call('b'), result('b'), result('a')], [stored(['a', 'b'], 2)])
  expect(point).toMatchObject({ text: '', unknown: [], calls: 2, spent: 2, turns: 1, isFirstCall: false })
  expect(point.said).toEqual([
    { ...stored(['a', 'b'], 2).turn.answer },
    { role: 'tool', toolCallId: 'a', content: 'of a' },
    { role: 'tool', toolCallId: 'b', content: 'of b' },
  ])
  expect(point.used).toEqual({ promptTokens: 7, completionTokens: 3, estimated: false })
})

verifies('contract-21.calls', 'a call without a result has an unknown outcome, shown once', () => {
  const events = [text('Look: '), call('a'), call('b'), result('b')]
  const point = pointOf(events, [stored(['a', 'b'], 2)])
  expect(point.unknown).toEqual(['a'])
  expect(point.said[1]).toMatchObject({ toolCallId: 'a', content: expect.stringContaining('The outcome is unknown') })
  expect(point.said[2]).toMatchObject({ toolCallId: 'b', content: 'of b' })
  expect(pointOf([...events, { type: 'tool_unknown', id: 'a' }], [stored(['a', 'b'], 2)]).unknown).toEqual([])
})

verifies('contract-21.continued', 'the text behind the last turn of calls is what was interrupted', () => {
  const point = pointOf([call('a'), result('a'), text('So '), text('far')], [stored(['a'], 1)])
  expect([point.text, point.turns]).toEqual(['So far', 1])
  expect(pointOf([text('So far')])).toMatchObject({ text: 'So far', isFirstCall: true, said: [] })
})

verifies('contract-21.calls', 'a stored turn whose calls were never shown was never made', () => {
  const point = pointOf([text('Look: ')], [stored(['a'], 1)])
  expect(point).toMatchObject({ text: 'Look: ', calls: 0, turns: 0, unknown: [], said: [] })
})

verifies('contract-21.calls', 'of a stored turn of two calls of which one was shown the model is told that one', () => {
  const { said, calls, unknown } = pointOf([text('Look: '), call('a')], [stored(['a', 'b'], 2)])
  expect([calls, unknown]).toEqual([1, ['a']])
  expect(said.map((one) => ('toolCalls' in one ? one.toolCalls?.map(({ id }) => id) : one.role))).toEqual([
    ['a'],
    'tool',
  ])
})

verifies('contract-21.calls', 'calls follow the results of others only in another turn', () => {
  const point = pointOf([call('a'), result('a'), call('b')], [stored(['a'], 1), stored(['b'], 2)])
  expect([point.turns, point.unknown]).toEqual([2, ['b']])
})

/** A turn whose calls all waited, one for each decision. */
function decided(decisions: readonly DecidedCall[]): NonNullable<Claimed['continued']> {
  const calls = decisions.map(({ id }) => ({ id, name: 'look', arguments: '{}' }))
  const waiting = calls.map((one, index) => ({ ...one, kind: 'approval' as const, replyId: 'first', place: index + 1 }))
  const answer = { role: 'assistant' as const, content: '', toolCalls: calls }
  const chain = { turns: [], turn: { answer, results: calls.map(() => null), waiting }, callsUsed: calls.length }
  return { carried: { tools: [], fields: {}, overrides: null, chain, firstId: 'first' }, decisions, by: null }
}

verifies(
  'contract-15.crash',
  'whatever was lost, the model is told what was decided of calls that were not made',
  () => {
    const continued = decided([
      { id: 'a', decision: 'approve' },
      { id: 'b', decision: 'reject', reason: 'too dear' },
      { id: 'c', decision: 'respond', output: 'It is blue.' },
    ])
    const begun: ReplyEvent = { type: 'tool_begun', id: 'a', startedAt }
    const point = pointOf([begun], [], continued)
    expect(point.unknown).toEqual(['a'])
    expect(point.said.slice(1)).toEqual([
      { role: 'tool', toolCallId: 'a', content: expect.stringContaining('The outcome is unknown') },
      { role: 'tool', toolCallId: 'b', content: 'The call was rejected, and not made: too dear' },
      { role: 'tool', toolCallId: 'c', content: 'It is blue.' },
    ])
    const denied: ReplyEvent = { type: 'tool_result', id: 'b', ok: false, content: 'No.', durationMs: 0, denied: true }
    expect(pointOf([begun, denied], [], continued).notMade.map(({ id }) => id)).toEqual(['c'])
  },
)

verifies('contract-15.crash', 'and so are its readers, once', async () => {
  const continued = decided([
    { id: 'a', decision: 'approve' },
    { id: 'b', decision: 'reject' },
    { id: 'c', decision: 'respond', output: 'It is blue.' },
  ])
  const model = script([say('Done.'), end()])
  const generation = createGeneration(request, {
    replyId: 'r',
    model,
    openToolbox: async () => ({ tools: [], call: () => Promise.reject(new Error('made again')) }),
    actions: {
      ...noActions,
      canWait: true,
      continued: { chain: continued.carried.chain, decisions: continued.decisions },
    },
    from: resumption(pointOf([{ type: 'tool_begun', id: 'a', startedAt }], [], continued), () => {
      throw new Error('nothing is joined')
    }),
    ...capabilities,
    timeoutMs: 60_000,
  })
  const events: ReplyEvent[] = []
  await generation.run(
    never,
    (emitted) => void events.push(...emitted),
    async () => true,
  )
  expect(events.filter(({ type }) => type !== 'text')).toEqual([
    { type: 'tool_unknown', id: 'a' },
    { type: 'tool_result', id: 'b', ok: false, content: expect.any(String), durationMs: 0, denied: true },
    { type: 'tool_result', id: 'c', ok: true, content: 'It is blue.', durationMs: 0 },
  ])
})

verifies(
  'contract-27.questions',
  'a question that is stored waits, also where its reply was lost before its end',
  () => {
    const asked: ReplyEvent = {
      type: 'tool_asked',
      id: 'b',
      asked: { server: 'shop', questions: [{ key: 'k', message: 'Which?', url: 'https://example.com/' }], of: 'h' },
    }
    const point = pointOf([text('Look: '), call('a'), call('b'), result('a'), asked], [stored(['a', 'b'], 2)])
    expect(point.unknown).toEqual([])
    expect(point.wait?.turn.waiting).toEqual([
      null,
      expect.objectContaining({ id: 'b', kind: 'input', replyId: 'r', place: 2, asked: asked.asked }),
    ])
    expect(point.wait?.turn.results).toEqual(['of a', null])
  },
)
