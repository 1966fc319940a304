/** The chart that people see is the machine that runs (contract section 8). */
import { expect, test } from 'vitest'
import { createMachine, transition } from 'xstate'
import type { Outcome } from '../../../src/actors/reply/reply-event.ts'
import { pathOf, sessionMachine, startingAt } from '../../../src/actors/session/machine.ts'
import type { RunningReply } from '../../../src/actors/session/running-reply.ts'
import type { SessionEvent } from '../../../src/actors/session/session-event.ts'
import {
  chartOf,
  machineConfig,
  mermaidChart,
  sessionChart,
  transitionTaken,
} from '../../../src/features/traces/chart.ts'
import { verifies } from '../../verifies.ts'

const chart = sessionChart()

verifies('contract-8.chart', 'states with their paths, kinds and parents', () => {
  expect(chart.id).toBe('session')
  expect(chart.initial).toBe('idle')
  expect(chart.states.map(({ id, kind, parent }) => [id, kind, parent])).toEqual([
    ['idle', 'atomic', null],
    ['streaming', 'compound', null],
    ['streaming.generating', 'atomic', 'streaming'],
    ['streaming.compacting', 'atomic', 'streaming'],
    ['streaming.settling', 'atomic', 'streaming'],
    ['complete', 'atomic', null],
    ['waiting', 'atomic', null],
    ['error', 'atomic', null],
    ['cancelled', 'atomic', null],
    ['deleted', 'final', null],
  ])
  for (const { id, description } of chart.states) expect(description, id).not.toBe('')
})

verifies(
  'contract-8.chart',
  'transitions with source, target and event, each with a description and an id of its own',
  () => {
    const edges = chart.transitions.map(({ source, event, target }) => `${source} -${event}-> ${target}`)
    expect(edges.toSorted()).toEqual(
      [
        'idle -next-> streaming',
        'complete -next-> streaming',
        'waiting -next-> streaming',
        'error -next-> streaming',
        'cancelled -next-> streaming',
        'streaming.generating -steered-> streaming.settling',
        'idle -message-> streaming',
        'complete -message-> streaming',
        'waiting -message-> streaming',
        'waiting -decided-> streaming',
        'error -message-> streaming',
        'cancelled -message-> streaming',
        'streaming -lost-> error',
        'streaming -deleted-> deleted',
        'streaming.generating -adopted-> streaming.generating',
        'streaming.generating -finished-> streaming.settling',
        'streaming.generating -failed-> streaming.settling',
        'streaming.generating -cancel-> streaming.settling',
        'streaming.generating -unstorable-> streaming.settling',
        'idle -compact-> streaming.compacting',
        'complete -compact-> streaming.compacting',
        'error -compact-> streaming.compacting',
        'cancelled -compact-> streaming.compacting',
        'streaming.generating -compact-> streaming.compacting',
        'streaming.compacting -compacted-> streaming.generating',
        'streaming.compacting -compacted-> idle',
        'streaming.compacting -compacted-> complete',
        'streaming.compacting -compacted-> error',
        'streaming.compacting -compacted-> cancelled',
        'streaming.compacting -failed-> streaming.settling',
        'streaming.compacting -cancel-> streaming.settling',
        'streaming.compacting -unstorable-> streaming.settling',
        'streaming.settling -settled-> complete',
        'streaming.settling -settled-> waiting',
        'streaming.settling -settled-> error',
        'streaming.settling -settled-> cancelled',
      ].toSorted(),
    )
    expect(new Set(chart.transitions.map(({ id }) => id)).size).toBe(chart.transitions.length)
    for (const { id, description } of chart.transitions) expect(description, id).not.toBe('')
  },
)

test.each([
  [{ from: 'idle', to: 'streaming.generating', event: 'message' }, 'idle', 'streaming'],
  [{ from: 'streaming.settling', to: 'error', event: 'lost' }, 'streaming', 'error'],
  [{ from: 'streaming.generating', to: 'deleted', event: 'deleted' }, 'streaming', 'deleted'],
  [{ from: 'streaming.settling', to: 'cancelled', event: 'settled' }, 'streaming.settling', 'cancelled'],
])('the recorded step %o took the edge %s → %s', (step, source, target) => {
  expect(transitionTaken(chart.transitions, step)).toMatchObject({ source, target })
})

test('a step that the machine cannot make took no edge', () => {
  expect(transitionTaken(chart.transitions, { from: 'idle', to: 'complete', event: 'settled' })).toBeUndefined()
})

/** The machine hands it on and never looks inside. */
const reply = {} as RunningReply
const at = '2026-01-01T00:00:00.000Z'
const error = { code: 'internal', message: 'm', detail: 'd' } as const
const usage = { promptTokens: 1, completionTokens: 1, estimated: false }
const settledAs = (outcome: Outcome): SessionEvent => ({
  type: 'settled',
  ended: { outcome, endedAt: at, settledAt: at },
})
const samples: SessionEvent[] = [
  { type: 'message', reply },
  { type: 'next', reply },
  { type: 'decided', reply },
  { type: 'steered' },
  { type: 'compact', rest: null },
  { type: 'compacted' },
  { type: 'adopted', reply },
  { type: 'finished', reason: 'stop' },
  { type: 'failed', error },
  { type: 'unstorable', error },
  { type: 'cancel' },
  { type: 'lost' },
  { type: 'deleted' },
  settledAs({ type: 'failed', error, usage }),
  ...(['stop', 'cancelled', 'tool_calls'] as const).map((reason) => settledAs({ type: 'finished', reason, usage })),
]
const streaming = (state: 'generating' | 'compacting' | 'settling') =>
  sessionMachine.resolveState({
    value: { streaming: state },
    context: { reply, rest: null, ending: { type: 'finished', reason: 'stop' } },
  })
const compacting = (rest: 'idle' | 'complete' | 'error' | 'cancelled') =>
  sessionMachine.resolveState({ value: { streaming: 'compacting' }, context: { reply: null, rest, ending: null } })
const innermost = [
  ...(['idle', 'complete', 'waiting', 'error', 'cancelled'] as const).map(startingAt),
  ...(['generating', 'compacting', 'settling'] as const).map(streaming),
  ...(['idle', 'complete', 'error', 'cancelled'] as const).map(compacting),
]

verifies('contract-8.chart', 'every edge is taken by the machine, and every step that it takes is an edge', () => {
  const taken = new Set<string>()
  for (const from of innermost) {
    for (const event of samples) {
      const [to] = transition(sessionMachine, from, event)
      const step = { from: pathOf(from.value), to: pathOf(to.value), event: event.type }
      const edge = transitionTaken(chart.transitions, step)
      if (step.from !== step.to) expect(edge, `${step.from} ${step.event} ${step.to}`).toBeDefined()
      if (edge) taken.add(edge.id)
    }
  }
  expect([...taken].toSorted()).toEqual(chart.transitions.map(({ id }) => id).toSorted())
})

verifies('contract-8.chart', 'as a configuration XState makes the same machine of it', () => {
  expect(chartOf(createMachine(JSON.parse(JSON.stringify(machineConfig()))))).toEqual(chart)
})

verifies('contract-8.chart', 'as a diagram of Mermaid it has every state and transition', () => {
  expect(mermaidChart()).toBe(`stateDiagram-v2
    [*] --> idle
    state "idle" as idle
    state streaming {
        [*] --> streaming_generating
        state "generating" as streaming_generating
        state "compacting" as streaming_compacting
        state "settling" as streaming_settling
        streaming_generating --> streaming_generating : adopted
        streaming_generating --> streaming_settling : finished
        streaming_generating --> streaming_settling : steered
        streaming_generating --> streaming_settling : failed
        streaming_generating --> streaming_settling : cancel
        streaming_generating --> streaming_settling : unstorable
        streaming_generating --> streaming_compacting : compact
        streaming_compacting --> streaming_generating : compacted
        streaming_compacting --> streaming_settling : failed
        streaming_compacting --> streaming_settling : cancel
        streaming_compacting --> streaming_settling : unstorable
    }
    state "complete" as complete
    state "waiting" as waiting
    state "error" as error
    state "cancelled" as cancelled
    state "deleted" as deleted
    deleted --> [*]
    idle --> streaming : message
    idle --> streaming_compacting : compact
    idle --> streaming : next
    streaming --> error : lost
    streaming --> deleted : deleted
    streaming_compacting --> idle : compacted
    streaming_compacting --> error : compacted
    streaming_compacting --> cancelled : compacted
    streaming_compacting --> complete : compacted
    streaming_settling --> error : settled
    streaming_settling --> cancelled : settled
    streaming_settling --> waiting : settled
    streaming_settling --> complete : settled
    complete --> streaming : message
    complete --> streaming_compacting : compact
    complete --> streaming : next
    waiting --> streaming : message
    waiting --> streaming : next
    waiting --> streaming : decided
    error --> streaming : message
    error --> streaming_compacting : compact
    error --> streaming : next
    cancelled --> streaming : message
    cancelled --> streaming_compacting : compact
    cancelled --> streaming : next
`)
})
