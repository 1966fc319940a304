/** What later turns of a session are told about tools. */
import { describe, expect, test } from 'vitest'
import { neverMade, resultOfDecision } from '../../../src/actors/history/decided-calls.ts'
import { laterText, messagesFor, repeatableCall, unknownOutcome } from '../../../src/actors/history/tool-turns.ts'
import type { HistoryMessage, HistoryToolEvent } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import { modelHistory } from './sent-history.ts'

const called = (end: number, id: string, args = '{}', name = 'look'): HistoryToolEvent => ({
  end,
  event: { type: 'tool_call', id, name, arguments: args, startedAt: '2026-01-01T00:00:00.000Z' },
})
const answered = (end: number, id: string, content: string): HistoryToolEvent => ({
  end,
  event: { type: 'tool_result', id, ok: true, content, durationMs: 1 },
})
const reply = (content: string, toolEvents: HistoryToolEvent[]): HistoryMessage => ({
  role: 'assistant',
  content,
  toolEvents,
})
const call = (id: string, args = '{}') => ({ id, name: 'look', arguments: args })

verifies('contract-6.kept-calls', 'a reply is told turn by turn: its words, its calls, their results', () => {
  // Ends count UTF-8 bytes: 'Ä. ' has four.
  const events = [
    called(4, 'a'),
    called(4, 'b'),
    answered(4, 'a', '1'),
    answered(4, 'b', '2'),
    called(4, 'c'),
    answered(4, 'c', '3'),
  ]
  expect(messagesFor(reply('Ä. Done.', events))).toEqual([
    { role: 'assistant', content: 'Ä. ', toolCalls: [call('a'), call('b')] },
    { role: 'tool', toolCallId: 'a', content: '1' },
    { role: 'tool', toolCallId: 'b', content: '2' },
    { role: 'assistant', content: '', toolCalls: [call('c')] },
    { role: 'tool', toolCallId: 'c', content: '3' },
    { role: 'assistant', content: 'Done.' },
  ])
})

test('results find their calls by id, in whatever order they come', () => {
  const events = [called(0, 'x'), called(0, 'y'), answered(0, 'y', '2'), answered(0, 'x', '1')]
  const told = messagesFor(reply('', events))
  expect(told.map(({ content }) => content)).toEqual(['', '1', '2'])
})

test('a call without a result is told as one: no vendor takes a call that nobody answered', () => {
  const told = messagesFor(reply('', [called(0, 'a'), called(0, 'b'), answered(0, 'b', '2')]))
  expect(told).toEqual([
    { role: 'assistant', content: '', toolCalls: [call('a'), call('b')] },
    { role: 'tool', toolCallId: 'a', content: expect.stringMatching(/outcome is unknown.*may have taken effect/) },
    { role: 'tool', toolCallId: 'b', content: '2' },
  ])
})

test.each([
  ['{"a": 1}', '{"a": 1}'],
  ['', '{}'],
  ['{"a":', '{}'],
  ['[1]', '{}'],
  ['null', '{}'],
])('arguments %j go back as %s: vendors refuse what is no JSON object', (text, sent) => {
  expect(repeatableCall({ id: 'a', name: 'look', arguments: text }).arguments).toBe(sent)
})

test.each([
  ['look', 'look'],
  ['a.b c/Ω😀', 'a_b_c___'],
  ['', 'unnamed'],
  ['x'.repeat(100), 'x'.repeat(64)],
])('the name %j goes back as %s', (name, sent) => {
  expect(repeatableCall({ id: 'a', name, arguments: '{}' }).name).toBe(sent)
})

describe('limits', () => {
  verifies('contract-6.kept-calls', 'results and arguments are cut at 8,000 characters, arguments stay JSON', () => {
    const long = `${'x'.repeat(7999)}😀${'y'.repeat(300_000)}`
    const [asked, result] = messagesFor(reply('', [called(0, 'a', JSON.stringify({ long })), answered(0, 'a', long)]))
    expect(result?.content.length).toBeLessThan(8100)
    expect(result?.content.isWellFormed()).toBe(true)
    expect(result?.content).toContain('cut')
    const sent = asked?.role === 'assistant' ? (asked.toolCalls?.[0]?.arguments ?? '') : ''
    expect(JSON.parse(sent)).toEqual({ cut: expect.any(String) })
    expect(sent.length).toBeLessThan(17_000)
    expect(messagesFor(reply('', [called(0, 'a'), answered(0, 'a', 'x'.repeat(8000))]))[1]?.content).toBe(
      'x'.repeat(8000),
    )
  })

  verifies(['contract-6.kept-calls', 'contract-1.history-limit'], 'calls and results count; whole turns go', () => {
    const turn = (name: string, result: string): HistoryMessage[] => [
      { role: 'user', content: name },
      reply('ok', [called(0, 'a'), answered(0, 'a', result)]),
    ]
    const told = (tokens: number) => modelHistory([...turn('one', 'x'.repeat(400)), ...turn('two', 'x')], 'now', tokens)
    expect(told(200).map(({ content }) => content)).toEqual([
      'one',
      '',
      'x'.repeat(400),
      'ok',
      'two',
      '',
      'x',
      'ok',
      'now',
    ])
    expect(told(100).map(({ content }) => content)).toEqual(['two', '', 'x', 'ok', 'now'])
    expect(told(1).map(({ content }) => content)).toEqual(['now'])
  })
})

test('a reply that failed without a word but had called a tool is told; an empty one is not', () => {
  const asked: HistoryMessage = { role: 'user', content: 'go' }
  const acted = modelHistory([asked, reply('', [called(0, 'a'), answered(0, 'a', '1')])], 'go', 1000)
  expect(acted.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
  expect(modelHistory([asked, reply('', [])], 'go', 1000)).toEqual([{ role: 'user', content: 'go' }])
})

test('words after the last result join the next words of the model, never the call', () => {
  const history = [
    { role: 'user', content: 'go' } as const,
    reply('a', [called(1, 'a'), answered(1, 'a', '1')]),
    { role: 'assistant', content: 'b' } as const,
    reply('c', []),
  ]
  expect(modelHistory(history, 'now', 1000)).toEqual([
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'a', toolCalls: [call('a')] },
    { role: 'tool', toolCallId: 'a', content: '1' },
    { role: 'assistant', content: 'b\n\nc' },
    { role: 'user', content: 'now' },
  ])
})

test('a call behind further words belongs to a turn of its own, also when no result is stored', () => {
  expect(
    messagesFor(reply('ab', [called(1, 'x'), called(2, 'y')])).map(({ role, content }) => [role, content]),
  ).toEqual([
    ['assistant', 'a'],
    ['tool', unknownOutcome],
    ['assistant', 'b'],
    ['tool', unknownOutcome],
  ])
})

verifies('contract-15.message-instead', 'of a call that waited the model is told what became of it', () => {
  const waited = { id: 'a', arguments: null, output: null, reason: null, begun: false, content: null }
  expect(laterText(undefined)).toBe(neverMade)
  expect(laterText({ ...waited, decision: null })).toBe(neverMade)
  expect(laterText({ ...waited, decision: 'approve' })).toBe(neverMade)
  expect(laterText({ ...waited, decision: 'approve', begun: true })).toBe(unknownOutcome)
  const made = { ...waited, decision: 'approve', begun: true, content: 'paid' } as const
  expect(laterText(made)).toBe('paid')
  expect(laterText({ ...made, arguments: '{"amount":2}' })).toContain('{"amount":2}')
  const answered = laterText({ ...waited, decision: 'respond', output: 'x'.repeat(8001) })
  expect([answered.startsWith('x'.repeat(8000)), answered.includes('x'.repeat(8001))]).toEqual([true, false])
})

verifies('contract-29.expires', 'a call that expired is shown as denied, as one that was rejected', () => {
  const shown = (decision: 'reject' | 'expired' | 'respond') =>
    resultOfDecision({ id: 'a', decision, output: 'x' }).denied ?? false
  expect([shown('reject'), shown('expired'), shown('respond')]).toEqual([true, true, false])
})
