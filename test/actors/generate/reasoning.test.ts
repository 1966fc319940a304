/** Reasoning in the generate loop (contract section 12), with a scripted model. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createReasoning } from '../../../src/actors/generate/reasoning.ts'
import type { ModelEvent } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import { ask, end, run, say, script } from './generation-scene.ts'

describe('reasoning', () => {
  const think = (text: string): ModelEvent => ({ type: 'reasoning', text })

  verifies(
    'contract-12.reasoning',
    'is emitted where it came, over all turns, and is no part of the next request',
    async () => {
      const first = [think('a\ud83d'), think('\ude00'), say('x'), ask('one'), end('tool_calls')]
      const model = script(first, [think('b\ud83d'), say('y'), think('\0'), end()])
      const { events } = await run(model)
      expect(events.map((event) => ('text' in event ? [event.type, event.text] : event.type))).toEqual([
        ['reasoning', 'a'],
        ['reasoning', '😀'],
        ['text', 'x'],
        'tool_call',
        'tool_result',
        ['reasoning', 'b'],
        ['reasoning', '\ufffd'], // the half of a pair, before the text that follows it
        ['text', 'y'],
        ['reasoning', '\ufffd'],
      ])
      expect(model.requests[1]?.messages.slice(1)).toEqual([
        { role: 'assistant', content: 'x', toolCalls: [{ id: 'one', name: 'tool', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'one', content: 'result of one' },
      ])
    },
  )

  verifies('contract-12.reasoning', 'counts as written where the provider reports no usage', async () => {
    const { usage } = await run(script([think('four'), say('to'), { type: 'end', reason: 'stop', usage: null }]))
    expect(usage).toEqual({ promptTokens: 'sys'.length + 'hello'.length, completionTokens: 6, estimated: true })
  })
})

test('thinking is timed from its first delta to what follows its last, over all turns', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const thoughts = createReasoning()
  expect(thoughts.ms()).toBeNull()
  thoughts.push('a')
  vi.advanceTimersByTime(30)
  thoughts.push('b')
  vi.advanceTimersByTime(20)
  thoughts.close()
  vi.advanceTimersByTime(1000)
  expect(thoughts.ms()).toBe(50)
  thoughts.push('c')
  vi.advanceTimersByTime(7)
  expect(thoughts.ms()).toBe(57)
  thoughts.close()
  thoughts.close()
  expect([thoughts.ms(), thoughts.isOpen()]).toEqual([57, false])
})
