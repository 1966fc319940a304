/** Contract sections 27, 29 and 30: what a page says of calls, read as decisions. */
import { describe, expect } from 'vitest'
import type { GivenDecision } from '../../../../src/features/approvals/routes/decisions.ts'
import { pageDecisions, questionsById } from '../../../../src/features/approvals/routes/question-answers.ts'
import type { PendingCall } from '../../../../src/features/sessions/index.ts'
import { verifies } from '../../../verifies.ts'

const entry = (call_id: string, more: Partial<PendingCall> = {}): PendingCall => ({
  ...{ call_id, name: 'tool', arguments: '{}', kind: 'input' },
  ...more,
})
/** A call of a session two calls below. */
const below = (call_id: string, more: Partial<PendingCall> = {}): PendingCall => {
  const path = ['own', 'between'].map((call) => ({ agent_id: 'a', session_id: 's', call_id: call }))
  return entry(call_id, { kind: 'approval', path, ...more })
}
const output = (id: string, value: unknown): GivenDecision => ({
  ...{ id, decision: 'respond' },
  output: typeof value === 'string' ? value : JSON.stringify(value),
})
const wish = { wish: { scope: 'session', at: 'remember' } } as const

/** The decisions, or the words of the refusal. */
function read(calls: readonly GivenDecision[], pending: readonly PendingCall[], wished: typeof wish | object = {}) {
  try {
    return pageDecisions(calls, pending, wished)
  } catch (error) {
    return error instanceof Error ? error.message : 'no error'
  }
}

describe('of its own calls', () => {
  verifies(
    'contract-27.question-wires',
    'a question has its call’s id, and its key where the call asks several',
    () => {
      const pending = [
        entry('a', { key: 'k' }),
        entry('b', { key: 'x' }),
        entry('b', { kind: 'sign_in' }),
        entry('b', { key: 'y' }),
      ]
      expect([...questionsById(pending).keys()]).toEqual(['a', 'b:x', 'b', 'b:y'])
      expect(questionsById([entry('a', { kind: 'approval' }), entry('b', { kind: 'caller' })]).size).toBe(0)
    },
  )

  verifies('contract-27.question-wires', 'an output answers a question by its digits, or several by their keys', () => {
    const pending = [entry('c')]
    expect(read([output('c', '{"decision":"answer","content":{"n":9007199254740993}}')], pending)).toEqual([
      { id: 'c', decision: 'answer', content: '{"n":9007199254740993}' },
    ])
    const both = [
      { decision: 'decline', key: 'x' },
      { decision: 'cancel', key: 'y', content: null },
    ]
    expect(read([output('c', both)], pending)).toEqual([
      { id: 'c', decision: 'decline', key: 'x' },
      { id: 'c', decision: 'cancel', key: 'y' },
    ])
  })

  verifies(
    'contract-27.question-wires',
    'what answers no question is refused, and an output of another call is its output',
    () => {
      const pending = [entry('c')]
      for (const wrong of ['yes', '', [], { decision: 'approve' }, { decision: 'answer', content: 'x' }]) {
        const said = read([output('c', wrong)], pending)
        if (Array.isArray(wrong)) expect(said).toEqual([])
        else expect(said).toMatch(/^messages: the .*output of "c"/)
      }
      expect(read([output('c', { decision: 'decline', content: {} })], pending)).toContain('beside answer')
      expect(read([output('d', 'yes')], pending)).toEqual([output('d', 'yes')])
      expect(read([output('c', 'yes')], [entry('c', { kind: 'caller' })])).toEqual([output('c', 'yes')])
    },
  )

  verifies('contract-29.remembered-wires', 'a wish goes with every approval, and with nothing else', () => {
    const calls: GivenDecision[] = [{ id: 'a', decision: 'approve' }, { id: 'b', decision: 'reject' }, output('d', 'x')]
    expect(read(calls, [], wish)).toEqual([{ ...calls[0], ...wish }, { ...calls[1], ...wish }, calls[2]])
  })
})

describe('of calls of sessions below', () => {
  verifies('contract-30.child-decided', 'an approval of the call is one of each that waits below it', () => {
    const approve: GivenDecision = { id: 'own', decision: 'approve' }
    expect(read([approve], [below('x'), below('y'), entry('z')])).toEqual([
      { id: 'x', decision: 'approve' },
      { id: 'y', decision: 'approve' },
    ])
    expect(read([approve], [below('x'), below('y', { kind: 'input' })])).toContain('a list of decisions with call_id')
    expect(read([approve], [below('x')], wish)).toEqual([{ id: 'x', decision: 'approve', ...wish }])
    expect(read([approve], [below('x'), below('y')], wish)).toMatch(/^remember: .*none can be remembered/)
  })

  verifies('contract-30.child-decided', 'an output names each call by call_id, and may approve', () => {
    const pending = [below('x'), below('y', { kind: 'input' })]
    const given = [
      { call_id: 'x', decision: 'reject', reason: 'no' },
      { call_id: 'y', decision: 'answer', content: { a: 1 } },
    ]
    expect(read([output('own', given)], pending, wish)).toEqual([
      { id: 'x', decision: 'reject', reason: 'no', ...wish },
      { id: 'y', decision: 'answer', content: '{"a":1}' },
    ])
    expect(read([output('own', { call_id: 'x', decision: 'approve', reason: 'no' })], pending)).toEqual([
      { id: 'x', decision: 'approve' },
    ])
    expect(read([output('own', { call_id: 'z', decision: 'approve' })], pending)).toContain('must name by call_id')
    expect(read([output('own', { decision: 'approve' })], pending)).toContain('must name by call_id')
    expect(read([output('own', { call_id: 'x', decision: 'respond' })], pending)).toContain('output of "own"')
  })
})
