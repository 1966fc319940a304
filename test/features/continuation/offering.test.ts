/** What is given away by an instance that drains, where its time is over just then (contract section 21). */
import { afterEach, expect, vi } from 'vitest'
import type { ModelEvent, Settlement } from '../../../src/actors/ports/index.ts'
import type { StoredEvent } from '../../../src/actors/reply/reply-event.ts'
import { capabilities } from '../../../src/compose/capabilities.ts'
import { createContinuation } from '../../../src/features/continuation/continuation.ts'
import type { Handovers } from '../../../src/features/continuation/handovers.ts'
import { createTransitionRecorder } from '../../../src/features/traces/transitions.ts'
import { end, openScene, say } from '../../actors/scene.ts'
import { turn } from '../../actors/turn.ts'
import { verifies } from '../../verifies.ts'

afterEach(() => void vi.useRealTimers())

const GRACE_MS = 1000
/** A reply that runs elsewhere is read at least so often. */
const FOLLOW_MS = 250
const toolCall: ModelEvent = { type: 'tool_call', call: { id: 'c', name: 'tool', arguments: '{}' } }
const openToolbox = async () => ({
  tools: [{ name: 'tool', description: 'd', inputSchema: { type: 'object' } }],
  call: async () => ({ ok: true, content: '' }),
})

const basisOf = () => Promise.reject(new Error('No agent.'))

/**
 * Other instances take nothing, but what is said to be taken. `mayGoOn`, the writing of notes and offers at a boundary
 * can be held.
 */
async function setUp() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const offered: string[] = []
  const flushes: Promise<void>[] = []
  const held = {
    mayGoOn: Promise.resolve(),
    flush: Promise.resolve(),
    atBoundary: Promise.resolve<'offered' | 'refused'>('offered'),
    isTaken: false,
    isAway: false,
    refuses: false,
  }
  const handovers: Handovers = {
    keepTurn: async () => true,
    offer: async (_, reason) => {
      offered.push(reason)
      if (held.isAway) throw new Error('The database is away.')
      if (held.refuses) return 'refused'
      return reason === 'boundary' ? await held.atBoundary : 'offered'
    },
    takeBack: async () => !held.isTaken,
    mayGoOn: async (ids) => {
      await held.mayGoOn
      return new Set(ids)
    },
    isOwn: async () => !held.isTaken,
    left: async () => [],
    claim: async () => null,
    setReady: async () => {},
  }
  const recorder = createTransitionRecorder({ record: async () => {} }, () => {})
  const flush = () => {
    flushes.push(held.flush)
    return held.flush
  }
  const options = { recorder: { ...recorder, flush }, capabilities: { ...capabilities, keepTurn: handovers.keepTurn } }
  const scene = openScene(options, (inner) => [
    createContinuation(inner, { handovers, agentOf: () => undefined, basisOf }),
  ])
  const reply = await scene.start('s', { openToolbox })
  const graceOver = () => vi.advanceTimersByTimeAsync(GRACE_MS)
  return { ...scene, reply, offered, flushes, held, graceOver, drained: scene.host.drain(GRACE_MS, 60_000) }
}

verifies(
  'contract-21.continued',
  'a reply that comes to its end when the time of the drain is over is settled, and given to nobody',
  async () => {
    const { held, store, calls, reply, offered, graceOver, drained } = await setUp()
    const answer = Promise.withResolvers<void>()
    held.mayGoOn = answer.promise
    store.hold('settle')
    await graceOver()
    await calls[0]?.say(say('whole'), end)
    answer.resolve()
    await turn()
    await store.release('settle')
    await Promise.all([reply.done, drained])
    expect(offered).toEqual([])
    expect(reply.shapes()).toEqual(['started', 'whole', 'finished', 'done'])
  },
)

/** As the instance that has taken it settles it. */
const cancelledElsewhere = (events: readonly StoredEvent[]): Settlement => ({
  outcome: { type: 'finished', reason: 'cancelled', usage: { promptTokens: 1, completionTokens: 1, estimated: false } },
  events,
  endedAt: new Date(),
  requesterLost: true,
  reasoningMs: null,
  figures: null,
  title: null,
})

/** A reply at a boundary, whose notes are not written yet. */
async function atBoundary() {
  const scene = await setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  scene.held.flush = promise
  await turn()
  await scene.calls[0]?.say(toolCall, { type: 'end', reason: 'tool_calls', usage: null })
  while (scene.flushes.length === 0) await turn()
  return { ...scene, written: resolve }
}

verifies(
  'contract-21.boundary',
  'one that comes to a boundary when the time of the drain is over is offered once, as it stands',
  async () => {
    const { offered, graceOver, written, drained } = await atBoundary()
    await graceOver()
    written()
    await drained
    expect(offered).toEqual(['shutdown'])
  },
)

verifies(
  'contract-21.continued',
  'one whose offer at a boundary comes back when the time of the drain is over is offered as it stands',
  async () => {
    const { held, store, offered, graceOver, written, drained } = await atBoundary()
    const { promise, resolve } = Promise.withResolvers<'refused'>()
    held.atBoundary = promise
    written()
    while (offered.length === 0) await turn()
    await graceOver()
    resolve('refused')
    await drained
    expect(offered).toEqual(['boundary', 'shutdown'])
    expect(store.rows()[0]?.outcome).toBeNull()
  },
)

verifies('contract-21.cancel', 'one that is cancelled at a boundary before it is offered is settled here', async () => {
  const { host, store, reply, offered, written, drained } = await atBoundary()
  store.hold('settle')
  const cancelled = host.cancel('s')
  await turn()
  written()
  await turn()
  await store.release('settle')
  await Promise.all([cancelled, reply.done, drained])
  expect(offered).toEqual([])
  expect(store.rows()[0]?.outcome).toMatchObject({ reason: 'cancelled' })
})

verifies(
  ['contract-4.cancel', 'contract-21.cancel'],
  'one that is cancelled while it is offered and taken is settled before that is answered',
  async () => {
    const { host, store, reply, offered, held, written, drained } = await atBoundary()
    written()
    await turn()
    expect(offered).toEqual(['boundary'])
    held.isTaken = true
    let isAnswered = false
    const cancelled = host.cancel('s').then(() => {
      isAnswered = true
    })
    await vi.advanceTimersByTimeAsync(FOLLOW_MS)
    expect([host.running(), isAnswered]).toEqual([0, false])
    const [row] = store.rows()
    if (row === undefined) throw new Error('It is not stored.')
    await store.journal.settle(row.info, cancelledElsewhere(row.events))
    await vi.advanceTimersByTimeAsync(FOLLOW_MS)
    await Promise.all([cancelled, reply.done, drained])
    expect(reply.shapes().slice(-2)).toEqual(['finished', 'done'])
  },
)

/** Calls the check for orphans for the reply's row, as often as it takes. */
async function findOrphan({ host, store }: Pick<Awaited<ReturnType<typeof setUp>>, 'host' | 'store'>) {
  const [row] = store.rows()
  if (row === undefined) throw new Error('It is not stored.')
  await host.owned.settleOrphan({ ...row.info, offered: null })
  return row
}

verifies(
  'contract-35.unknown-is-not-no',
  'where nobody can say at the end of a drain whether a reply may go on, it is left as it stands, and offered later',
  async () => {
    const { host, held, store, calls, offered, graceOver, drained } = await setUp()
    held.mayGoOn = Promise.reject(new Error('The database is away.'))
    held.mayGoOn.catch(() => {})
    await calls[0]?.say(say('half'))
    await graceOver()
    await drained
    expect([host.running(), store.rows()[0]?.outcome, offered]).toEqual([0, null, []])
    expect([(await findOrphan({ host, store })).outcome, offered]).toEqual([null, ['database']])
  },
)

verifies(
  'contract-35.unknown-is-not-no',
  'a reply whose offer has no answer is not ended, but offered again',
  async () => {
    const { host, held, store, offered, written, drained } = await atBoundary()
    held.isAway = true
    written()
    while (offered.length === 0) await turn()
    await drained
    held.isAway = false
    expect([(await findOrphan({ host, store })).outcome, offered]).toEqual([null, ['boundary', 'database']])
  },
)

verifies('contract-35.unknown-is-not-no', 'a reply that is left and may go on nowhere ends', async () => {
  const { host, held, store, graceOver, drained } = await setUp()
  held.mayGoOn = Promise.reject(new Error('The database is away.'))
  held.mayGoOn.catch(() => {})
  await graceOver()
  await drained
  held.refuses = true
  expect((await findOrphan({ host, store })).outcome).toMatchObject({ type: 'failed', error: { code: 'internal' } })
})
