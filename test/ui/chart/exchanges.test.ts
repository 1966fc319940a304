/** A session as a sequence: who told whom what. */
import { expect, test } from 'vitest'
import { exchangesOf } from '../../../ui/src/chart/sequence/exchanges.ts'
import type { Step } from '../../../ui/src/chart/step.ts'

const begunAt = Date.UTC(2026, 5, 1)
const reply = '11111111-1111-4111-8111-111111111111'
let seq = 0

const step = (event: string, to: string, detail: Step['detail'] = {}, kind: Step['kind'] = 'transition'): Step => ({
  ...{ seq: ++seq, at: new Date(begunAt).toISOString(), from: 'idle', to, event, detail, kind },
  messageId: reply,
  instanceId: 'one',
})
const note = (event: string, detail: Step['detail']) => step(event, 'streaming.generating', detail, 'note')
const told = (steps: readonly Step[]) =>
  exchangesOf(steps).map(({ from, to, tool, words }) => `${from} > ${to}: ${tool === null ? '' : `${tool} `}${words}`)

test('a reply with a second attempt and a tool is told from its message to its outcome', () => {
  const steps = [
    step('message', 'streaming.generating'),
    note('attempt', { span: 'a1', attempt: 1, startMs: 2, endMs: 32, ok: false, status: 429, waitMs: 500 }),
    note('attempt', { span: 'a2', attempt: 2, startMs: 532, firstTokenMs: 632, endMs: 1_532, ok: true }),
    note('tool', { span: 't1', name: 'find_order', startMs: 1_540, endMs: 1_590, ok: true }),
    note('model', { span: 'm1', turn: 1, startMs: 2, endMs: 1_532, reason: 'tool_calls' }),
    step('finished', 'streaming.settling'),
    step('settled', 'complete'),
  ]
  expect(told(steps)).toEqual([
    'Caller > Session: message',
    'Session > Provider: attempt 1',
    'Provider > Session: 429 after 30 ms, again in 500 ms',
    'Session > Provider: attempt 2',
    'Provider > Session: first token after 100 ms',
    'Provider > Session: ends after 1.0 s',
    'Session > Tools: find_order is called',
    'Tools > Session: find_order has answered in 50 ms',
    'Session > Store: to be saved: model ended',
    'Store > Session: saved',
    'Session > Caller: complete',
  ])
  const times = exchangesOf(steps.slice(0, 5)).map(({ at }) => Date.parse(at) - begunAt)
  expect(times).toEqual([0, 2, 32, 532, 632, 1_532, 1_540, 1_590])
})

test('a note is never told later than the step that follows it', () => {
  const steps = [
    step('message', 'streaming.generating'),
    note('attempt', { span: 'a1', attempt: 1, startMs: 0, endMs: 3, ok: true }),
    step('finished', 'streaming.settling'),
  ]
  expect(exchangesOf(steps).map(({ at }) => Date.parse(at) - begunAt)).toEqual([0, 0, 0, 0])
})

test('a span that is noted again tells only what it has not told yet', () => {
  const span = { span: 'a1', attempt: 1, startMs: 2 }
  const steps = [
    step('message', 'streaming.generating'),
    note('attempt', span),
    note('attempt', { ...span, firstTokenMs: 12 }),
    note('attempt', { ...span, firstTokenMs: 12, endMs: 52, ok: false, code: 'provider_timeout' }),
    step('cancel', 'streaming.settling'),
  ]
  expect(told(steps).slice(1)).toEqual([
    'Session > Provider: attempt 1',
    'Provider > Session: first token after 10 ms',
    'Provider > Session: provider_timeout after 50 ms',
    'Caller > Session: stopped',
    'Session > Store: to be saved',
  ])
})
