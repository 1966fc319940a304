/** The machine's whole table: every state × every event, the ignored ones included (design: the machine decides). */
import { describe, expect, test } from 'vitest'
import { createActor, fromCallback, transition } from 'xstate'
import { getShortestPaths } from 'xstate/graph'
import type { Ending } from '../../../src/actors/generate/endings.ts'
import type { Ended } from '../../../src/actors/reply/frame-log.ts'
import type { Outcome } from '../../../src/actors/reply/reply-event.ts'
import { pathOf, sessionMachine, startingAt } from '../../../src/actors/session/machine.ts'
import type { RunningReply } from '../../../src/actors/session/running-reply.ts'
import type { SessionEvent } from '../../../src/actors/session/session-event.ts'

/** The machine hands it on and never looks inside. */
const reply = {} as RunningReply
const error = { code: 'provider_error', message: 'm', detail: 'd' } as const
const usage = { promptTokens: 1, completionTokens: 1, estimated: false }
const [endedAt, settledAt] = ['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:02.000Z']

const settledAs = (outcome: Outcome) => {
  const ended: Ended = { outcome, endedAt, settledAt }
  return { type: 'settled', ended } as const
}
/** An outcome for each state that a reply can settle in. */
const settlements = [
  ['complete', settledAs({ type: 'finished', reason: 'stop', usage })],
  ['complete', settledAs({ type: 'finished', reason: 'length', usage })],
  ['complete', settledAs({ type: 'finished', reason: 'content_filter', usage })],
  ['complete', settledAs({ type: 'finished', reason: 'steered', usage })],
  ['cancelled', settledAs({ type: 'finished', reason: 'cancelled', usage })],
  ['waiting', settledAs({ type: 'finished', reason: 'tool_calls', usage })],
  ['error', settledAs({ type: 'failed', error, usage })],
] as const

const sample: { [Type in SessionEvent['type']]: Extract<SessionEvent, { type: Type }> } = {
  message: { type: 'message', reply },
  next: { type: 'next', reply },
  steered: { type: 'steered' },
  decided: { type: 'decided', reply },
  compact: { type: 'compact', rest: 'complete' },
  compacted: { type: 'compacted' },
  adopted: { type: 'adopted', reply },
  finished: { type: 'finished', reason: 'stop' },
  failed: { type: 'failed', error },
  cancel: { type: 'cancel' },
  unstorable: { type: 'unstorable', error },
  settled: settlements[0][1],
  lost: { type: 'lost' },
  deleted: { type: 'deleted' },
}

type State =
  | 'idle'
  | 'streaming.generating'
  | 'streaming.compacting'
  | 'streaming.settling'
  | 'complete'
  | 'waiting'
  | 'error'
  | 'cancelled'
  | 'deleted'

const resting = (state: State) => ({
  message: 'streaming.generating',
  next: 'streaming.generating',
  decided: state,
  compact: 'streaming.compacting',
  compacted: state,
  steered: state,
  adopted: state,
  finished: state,
  failed: state,
  cancel: state,
  unstorable: state,
  settled: state,
  lost: state,
  deleted: state,
})

// No Partial: an undecided pair does not compile.
const next = {
  idle: resting('idle'),
  'streaming.generating': {
    message: 'streaming.generating',
    next: 'streaming.generating',
    decided: 'streaming.generating',
    compact: 'streaming.compacting',
    compacted: 'streaming.generating',
    steered: 'streaming.settling',
    adopted: 'streaming.generating',
    finished: 'streaming.settling',
    failed: 'streaming.settling',
    cancel: 'streaming.settling',
    unstorable: 'streaming.settling',
    settled: 'streaming.generating',
    lost: 'error',
    deleted: 'deleted',
  },
  'streaming.compacting': {
    message: 'streaming.compacting',
    next: 'streaming.compacting',
    steered: 'streaming.compacting',
    decided: 'streaming.compacting',
    compact: 'streaming.compacting',
    compacted: 'streaming.generating',
    adopted: 'streaming.compacting',
    finished: 'streaming.compacting',
    failed: 'streaming.settling',
    cancel: 'streaming.settling',
    unstorable: 'streaming.settling',
    settled: 'streaming.compacting',
    lost: 'error',
    deleted: 'deleted',
  },
  'streaming.settling': {
    message: 'streaming.settling',
    next: 'streaming.settling',
    decided: 'streaming.settling',
    compact: 'streaming.settling',
    compacted: 'streaming.settling',
    steered: 'streaming.settling',
    adopted: 'streaming.settling',
    finished: 'streaming.settling',
    failed: 'streaming.settling',
    cancel: 'streaming.settling',
    unstorable: 'streaming.settling',
    settled: 'complete',
    lost: 'error',
    deleted: 'deleted',
  },
  complete: resting('complete'),
  waiting: { ...resting('waiting'), decided: 'streaming.generating', compact: 'waiting' },
  error: resting('error'),
  cancelled: resting('cancelled'),
  deleted: { ...resting('deleted'), message: 'deleted', next: 'deleted', compact: 'deleted' },
} satisfies Record<State, Record<SessionEvent['type'], string>>

/** A summary that no reply waits for, in a session that is complete: its request alone ends it. */
const alone: Record<SessionEvent['type'], string> = {
  ...next['streaming.compacting'],
  compacted: 'complete',
  failed: 'streaming.compacting',
  cancel: 'streaming.compacting',
  unstorable: 'streaming.compacting',
}

const ending: Ending = { type: 'finished', reason: 'stop' }

const innermost = ['generating', 'compacting', 'settling'] as const

function at(state: string, context: { ending: Ending | null } = { ending }) {
  const running = innermost.find((one) => state === `streaming.${one}`)
  const value = running ? ({ streaming: running } as const) : (state as State)
  return sessionMachine.resolveState({ value, context: { reply, rest: null, ...context } })
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

  test.each(settlements)('settled as %s, however generating ended', (as, settled) => {
    for (const how of [{ type: 'failed', error } as const, { type: 'finished', reason: 'stop' } as const]) {
      const [state] = transition(sessionMachine, at('streaming.settling', { ending: how }), settled)
      expect(pathOf(state.value)).toBe(as)
    }
  })

  describe('a summary that no reply waits for', () => {
    const started = (rest: 'idle' | 'complete' | 'error' | 'cancelled') =>
      transition(sessionMachine, startingAt(rest), { type: 'compact', rest })[0]

    test.each(['idle', 'complete', 'error', 'cancelled'] as const)('leads back to %s', (rest) => {
      expect(pathOf(started(rest).value)).toBe('streaming.compacting')
      expect(pathOf(transition(sessionMachine, started(rest), sample.compacted)[0].value)).toBe(rest)
    })

    test('is over only when its request says so, or when its session is lost or deleted', () => {
      for (const event of [sample.cancel, sample.failed, sample.unstorable, sample.finished, sample.message])
        expect(pathOf(transition(sessionMachine, started('idle'), event)[0].value)).toBe('streaming.compacting')
      expect(pathOf(transition(sessionMachine, started('idle'), sample.deleted)[0].value)).toBe('deleted')
    })
  })

  test('the first way out of generating is the one that is stored: later events change nothing', () => {
    const [cancelled] = transition(sessionMachine, at('streaming.generating'), sample.cancel)
    for (const late of [sample.finished, sample.failed, sample.cancel, sample.unstorable]) {
      const [state] = transition(sessionMachine, cancelled, late)
      expect(state.context.ending).toEqual({ type: 'finished', reason: 'cancelled' })
    }
  })
})

describe('paths', () => {
  const events: SessionEvent[] = [...Object.values(sample), ...settlements.map(([, settled]) => settled)]
  const quiet = sessionMachine.provide({
    actors: { generate: fromCallback(() => {}), compact: fromCallback(() => {}), settle: fromCallback(() => {}) },
    actions: { closeLog() {}, cutLog() {}, dropLog() {}, beginNext() {} },
  })

  test('every shortest path through the machine agrees with the table', () => {
    const paths = getShortestPaths(quiet, { events, limit: 10_000 })
    expect(new Set(paths.map(({ state }) => pathOf(state.value)))).toEqual(new Set(Object.keys(next)))
    for (const { steps } of paths) {
      const actor = createActor(quiet).start()
      for (const { event } of steps) {
        if (event.type.startsWith('xstate.')) continue
        const from = pathOf(actor.getSnapshot().value) as State
        actor.send(event)
        const { context } = actor.getSnapshot()
        const isAlone = from === 'streaming.compacting' && context.reply === null
        const to = pathOf(actor.getSnapshot().value)
        const settled = settlements.find(([, one]) => one === event)
        const row = isAlone ? alone : next[from]
        expect(to).toBe(settled && from === 'streaming.settling' ? settled[0] : row[event.type])
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

/** What each cell does to the reply's log; all others do nothing to it. */
const ends: Partial<Record<State, Partial<Record<SessionEvent['type'], string>>>> = {
  'streaming.generating': { unstorable: 'cutLog', lost: 'cutLog', deleted: 'dropLog' },
  'streaming.compacting': { unstorable: 'cutLog', lost: 'cutLog', deleted: 'dropLog' },
  'streaming.settling': { unstorable: 'cutLog', settled: 'closeLog', lost: 'cutLog', deleted: 'dropLog' },
}

describe('the end of the log', () => {
  test.each(cells)('in %s, on %s', (from, on) => {
    const [, actions] = transition(sessionMachine, at(from), sample[on])
    const ending = actions.map(({ type }) => type).filter((type) => type.endsWith('Log'))
    expect(ending).toEqual([ends[from as State]?.[on]].filter((type) => type !== undefined))
  })

  test.each(settlements)('settled as %s, it is closed', (_, settled) => {
    const [, actions] = transition(sessionMachine, at('streaming.settling'), settled)
    expect(actions.map(({ type }) => type)).toContain('closeLog')
  })
})
