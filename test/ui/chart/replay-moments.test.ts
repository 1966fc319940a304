/** A session's past as moments to stop at (contract section 16): its steps, and what its tools did between them. */
import { expect, test } from 'vitest'
import { messagesAt, momentsOf, playMs } from '../../../ui/src/chart/replay/replay-moments.ts'
import type { Step } from '../../../ui/src/chart/step.ts'

const begunAt = Date.UTC(2026, 5, 1)
const at = (ms: number) => new Date(begunAt + ms).toISOString()
const step = (
  seq: number,
  ms: number,
  [from, to]: [string, string],
  messageId: string | null,
  more: Partial<Step> = {},
): Step => ({
  ...{ seq, at: at(ms), from, to, event: 'x', detail: {}, kind: 'transition', instanceId: 'one', messageId },
  ...more,
})
type Message = Parameters<typeof momentsOf>[1][number]
const message = (id: string, parentId: string | null, toolCalls: Message['toolCalls'] = []): Message => ({
  ...{ id, parentId, sessionId: 's', role: parentId === null ? 'user' : 'assistant', content: '', status: 'complete' },
  ...{ finishReason: null, error: null, createdAt: at(0), toolCalls },
})
const call = (id: string, ms: number | null, durationMs: number | null, ok: boolean | null = true) => ({
  ...{ id, name: 'look', arguments: '{}', offset: 0, ok, content: null, durationMs },
  startedAt: ms === null ? null : at(ms),
})

const running = 'streaming.generating'
const steps = [
  step(1, 0, ['idle', running], 'r'),
  step(2, 30, [running, running], 'r', { kind: 'note', event: 'tool' }),
  step(3, 100, [running, 'streaming.settling'], null),
  step(4, 120, ['streaming.settling', 'complete'], 'r'),
]
const calls = [call('late', 50, 200), call('a', 10, 30, false), call('b', 20, 5), call('old', null, 5)]
const messages = [message('u', null), message('r', 'u', calls)]
const moments = momentsOf(steps, messages, 'idle')

test('tools stand between the steps in whose time they began and ended, in order, under the step’s name', () => {
  expect(moments.map(({ id, tool }) => [id, tool && `${tool.id} ${tool.ok}`])).toEqual([
    ['start', null],
    ['1', null],
    ['1.1', 'a null'],
    ['1.2', 'b null'],
    ['1.3', 'b true'],
    ['1.4', 'a false'],
    ['1.5', 'late null'],
    ['3', null],
    ['4', null],
  ])
  expect(moments[4]).toMatchObject({ at: at(25), state: running, messageId: 'r' })
  // A step that names no message is of the one before it; behind the outcome no tool is at work.
  expect(moments[7]).toMatchObject({ state: 'streaming.settling', messageId: 'r' })
  expect(momentsOf([], [], 'idle')).toEqual([
    { id: 'start', at: null, state: 'idle', step: null, tool: null, messageId: null },
  ])
  expect(momentsOf(steps.slice(2), [], 'idle')[0]?.state).toBe(running)
})

test('before its first step a reply is not there, nor its question; until it ends it runs, with what its tools did', () => {
  const seen = (index: number) =>
    messagesAt(moments, index, messages).map((one) => [one.message.id, one.running, [...one.begun], [...one.ended]])
  expect(seen(0)).toEqual([])
  expect(seen(4)).toEqual([
    ['u', false, ['a', 'b'], ['b']],
    ['r', true, ['a', 'b'], ['b']],
  ])
  expect(seen(8).map(([id, runs]) => [id, runs])).toEqual([
    ['u', false],
    ['r', false],
  ])
  expect(seen(99)).toEqual([])
})

test('a moment is shown as long as it lasted, within bounds, and shorter at a higher speed', () => {
  const lasting = (ms: number) =>
    momentsOf([step(1, 0, ['idle', 'idle'], null), step(2, ms, ['idle', 'idle'], null)], [], 'idle')
  const ms = (real: number, speed: number) => playMs(lasting(real), 1, speed)
  expect([ms(1000, 1), ms(1000, 2), ms(10, 1), ms(60_000, 1), ms(60_000, 4), ms(10, 100)]).toEqual([
    1000, 500, 350, 4000, 1000, 140,
  ])
  // The last one, and the one before the first step.
  expect([playMs(lasting(1000), 2, 1), playMs(lasting(1000), 0, 1)]).toEqual([600, 600])
})
