/** What a chart answers in words: what may come next, and how a reply ended. */
import { expect, test } from 'vitest'
import { endOf, nextOf } from '../../../ui/src/chart/reading/words.ts'
import type { Chart, Step } from '../../../ui/src/chart/step.ts'

const way = (source: string, event: string, target: string): Chart['transitions'][number] => ({
  id: `${source} ${event} ${target}`,
  source,
  event,
  target,
  description: '',
})
const chart: Pick<Chart, 'transitions'> = {
  transitions: [
    way('complete', 'message', 'streaming'),
    way('complete', 'next', 'streaming'),
    way('complete', 'deleted', 'deleted'),
    way('streaming.generating', 'finished', 'streaming.settling'),
    way('streaming', 'cancel', 'streaming.settling'),
    way('streaming', 'lost', 'error'),
    way('streaming.settling', 'settled', 'complete'),
    way('streaming.settling', 'settled', 'error'),
  ],
}

test('what leads to the same state is one line, and what hardly ever happens is none', () => {
  expect(nextOf(chart, 'complete')).toEqual([
    { targets: ['streaming.generating'], when: 'when a message arrives or a queued message begins' },
  ])
  expect(nextOf(chart, 'streaming.generating')).toEqual([
    { targets: ['streaming.settling'], when: 'when the model ends or somebody stops it' },
  ])
})

test('where the outcome decides, all outcomes are named', () => {
  expect(nextOf(chart, 'streaming.settling')).toContainEqual({
    targets: ['complete', 'error'],
    when: 'when it is stored',
  })
})

const step = (seq: number, event: string, to: string, detail: Step['detail'] = {}): Step => ({
  seq,
  event,
  to,
  from: 'streaming.generating',
  kind: 'transition',
  at: '2026-01-01T00:00:00.000Z',
  messageId: 'reply',
  instanceId: 'server',
  detail,
})

test('a reply has not ended while it is saved, and then it ended as its saving was begun', () => {
  const saving = step(1, 'failed', 'streaming.settling', { code: 'provider_auth' })
  expect(endOf([saving])).toBe(null)
  expect(endOf([saving, step(2, 'settled', 'error')])).toEqual({
    event: 'failed',
    code: 'provider_auth',
    finishReason: null,
  })
  const ended = step(1, 'finished', 'streaming.settling', { finishReason: 'tool_calls' })
  expect(endOf([ended, step(2, 'settled', 'waiting')])).toMatchObject({ event: 'finished', finishReason: 'tool_calls' })
})
