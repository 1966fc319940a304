/** The machine's whole table: every state × every event, the ignored ones included (design: the machine decides). */
import { describe, expect, test } from 'vitest'
import { createActor, fromCallback, transition } from 'xstate'
import { getShortestPaths } from 'xstate/graph'
import type { ReplyInfo } from '../../src/actors/ports.ts'
import { type Ending, pathOf, restingAt, type SessionEvent, sessionMachine } from '../../src/actors/session-machine.ts'

const reply: ReplyInfo = {
  ...{ id: 'r', sessionId: 's', sessionNum: 1, firstSeq: 1, model: 'm', createdAt: '2026-01-01T00:00:00.000Z' },
  ...{ includeUsage: false, instanceId: 'i', epoch: 1 },
}
const error = { code: 'provider_error', message: 'm', detail: 'd' } as const

const sample: { [Type in SessionEvent['type']]: Extract<SessionEvent, { type: Type }> } = {
  message: { type: 'message', reply },
  finished: { type: 'finished', reason: 'stop' },
  failed: { type: 'failed', error },
  cancel: { type: 'cancel' },
  settled: { type: 'settled', as: 'complete' },
  lost: { type: 'lost' },
}

type State = 'idle' | 'streaming.generating' | 'streaming.settling' | 'complete' | 'error' | 'cancelled'

const resting = (state: State) => ({
  ...{ message: 'streaming.generating', finished: state, failed: state, cancel: state, settled: state, lost: state },
})

// No Partial: an undecided pair does not compile.
const next = {
  idle: resting('idle'),
  'streaming.generating': {
    message: 'streaming.generating',
    finished: 'streaming.settling',
    failed: 'streaming.settling',
    cancel: 'streaming.settling',
    settled: 'streaming.generating',
    lost: 'error',
  },
  'streaming.settling': {
    message: 'streaming.settling',
    finished: 'streaming.settling',
    failed: 'streaming.settling',
    cancel: 'streaming.settling',
    settled: 'complete',
    lost: 'error',
  },
  complete: resting('complete'),
  error: resting('error'),
  cancelled: resting('cancelled'),
} satisfies Record<State, Record<SessionEvent['type'], string>>

const ending: Ending = { type: 'finished', reason: 'stop' }

function at(state: string, context: { ending: Ending | null } = { ending }) {
  if (state === 'streaming.generating' || state === 'streaming.settling') {
    const value = { streaming: state === 'streaming.generating' ? 'generating' : 'settling' } as const
    return sessionMachine.resolveState({ value, context: { reply, ...context } })
  }
  return restingAt(state as 'idle')
}

const cells = Object.entries(next).flatMap(([from, row]) =>
  Object.entries(row).map(([on, to]) => [from, on as SessionEvent['type'], to] as const),
)

describe('the table', () => {
  test('has every state of the machine', () => {
    const leaves = Object.values(sessionMachine.root.states).flatMap((node) =>
      Object.keys(node.states).length > 0 ? Object.values(node.states) : [node],
    )
    expect(Object.keys(next).sort()).toEqual(leaves.map((node) => node.path.join('.')).sort())
    expect([...sessionMachine.events].filter((type) => !type.includes('xstate')).sort()).toEqual(
      Object.keys(sample).sort(),
    )
  })

  test.each(cells)('%s, on %s, is %s', (from, on, to) => {
    const [state] = transition(sessionMachine, at(from), sample[on])
    expect(pathOf(state.value)).toBe(to)
  })

  test.each(['complete', 'error', 'cancelled'] as const)('settled as %s is %s, however it ended', (as) => {
    for (const how of [{ type: 'failed', error } as const, { type: 'finished', reason: 'stop' } as const]) {
      const [state] = transition(sessionMachine, at('streaming.settling', { ending: how }), { type: 'settled', as })
      expect(pathOf(state.value)).toBe(as)
    }
  })

  test('the first way out of generating is the one that is stored: later events change nothing', () => {
    const [cancelled] = transition(sessionMachine, at('streaming.generating'), sample.cancel)
    for (const late of [sample.finished, sample.failed, sample.cancel]) {
      const [state] = transition(sessionMachine, cancelled, late)
      expect(state.context.ending).toEqual({ type: 'finished', reason: 'cancelled' })
    }
  })
})

describe('paths', () => {
  const outcomes = (['complete', 'error', 'cancelled'] as const).map((as) => ({ type: 'settled', as }) as const)
  const events: SessionEvent[] = [...Object.values(sample), ...outcomes]
  const quiet = sessionMachine.provide({ actors: { generate: fromCallback(() => {}), settle: fromCallback(() => {}) } })

  test('every shortest path through the machine agrees with the table', () => {
    const paths = getShortestPaths(quiet, { events, limit: 10_000 })
    expect(new Set(paths.map(({ state }) => pathOf(state.value)))).toEqual(new Set(Object.keys(next)))
    for (const { steps } of paths) {
      const actor = createActor(quiet).start()
      for (const { event } of steps) {
        if (event.type.startsWith('xstate.')) continue
        const from = pathOf(actor.getSnapshot().value) as State
        actor.send(event)
        const to = pathOf(actor.getSnapshot().value)
        expect(to).toBe(event.type === 'settled' && from === 'streaming.settling' ? event.as : next[from][event.type])
      }
      actor.stop()
    }
  })

  test('leaving generating stops what it invoked', () => {
    let stopped = 0
    const machine = sessionMachine.provide({
      actors: { generate: fromCallback(() => () => (stopped += 1)), settle: fromCallback(() => {}) },
    })
    const actor = createActor(machine).start()
    actor.send(sample.message)
    expect(stopped).toBe(0)
    actor.send(sample.cancel)
    expect(stopped).toBe(1)
    actor.stop()
  })
})
