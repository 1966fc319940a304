/** Races and limits of the host, with ports that the test answers (contract sections 1 and 4). */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createLeaseGate } from '../../../src/actors/generate/endings.ts'
import type {
  Admission,
  Journal,
  Model,
  ModelEvent,
  ReplyInfo,
  TransitionRecord,
  TransitionRecorder,
} from '../../../src/actors/ports/index.ts'
import { type Reply, StreamCut } from '../../../src/actors/reply/frame-log.ts'
import type { Frame } from '../../../src/actors/reply/reply-event.ts'
import { createHost, createSessionHost } from '../../../src/actors/session/host.ts'
import { noExchange } from '../../../src/coordination/local.ts'
import { reportOf } from '../../../src/features/traces/actor-report.ts'
import { told } from '../../support/streams/model-stream.ts'
import { into } from '../../support/streams/take.ts'
import { verifies } from '../../verifies.ts'
import { noRecorder } from '../no-recorder.ts'
import { message } from '../scene.ts'

const never = new AbortController().signal
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A model that says what the test pushes. */
function scripted() {
  const queue: ModelEvent[] = []
  let wake = () => {}
  let aborted = 0
  const model: Model = {
    countTokens: async (texts) => texts.map(({ length }) => length),
    stream: told(async function* (_, signal) {
      signal.addEventListener('abort', () => {
        aborted += 1
        wake()
      })
      while (!signal.aborted) {
        const event = queue.shift()
        if (event) yield event
        else await new Promise<void>((resolve) => (wake = resolve))
        if (event?.type === 'end') return
      }
    }),
  }
  const push = async (...events: ModelEvent[]) => {
    queue.push(...events)
    wake()
    for (let i = 0; i < 5; i++) await turn()
  }
  return { model, push, aborted: () => aborted }
}

const end: ModelEvent = { type: 'end', reason: 'stop', usage: { promptTokens: 1, completionTokens: 1 } }
const say = (text: string): ModelEvent => ({ type: 'text', text })

function setUp(options: { maxRunning?: number; leaseMs?: number } = {}) {
  const script = scripted()
  const steps: TransitionRecord[] = []
  let nextSeq = 1
  const settled: { id: string; outcome: string }[] = []
  const hold = { settle: Promise.resolve(), append: Promise.resolve() }
  const admit = vi.fn(
    async ({ mayStart, replyId, sessionId, model, text }: Parameters<Journal['admit']>[0]): Promise<Admission> => {
      if (!mayStart) return { outcome: 'refused' }
      const reply: ReplyInfo = {
        id: replyId,
        sessionId,
        sessionNum: 1,
        firstSeq: nextSeq,
        model,
        includeUsage: false,
        epoch: 1,
        instanceId: 'i',
        createdAt: new Date().toISOString(),
      }
      nextSeq += 100
      const place = { parentId: null, historyEnd: -1 }
      return { outcome: 'admitted', reply, text, ...place, restState: 'idle', titleFrom: null }
    },
  )
  const journal: Journal = {
    admit,
    append: async (_, take) => {
      take()
      await hold.append
      return 'stored'
    },
    withdraw() {},
    settle: async ({ id }, { outcome }) => {
      await hold.settle
      settled.push({ id, outcome: outcome.type === 'failed' ? outcome.error.code : outcome.reason })
      return { result: 'settled', settledAt: new Date().toISOString() }
    },
    read: async () => null,
    requestCancel: async (sessionId) => running(sessionId),
    history: async () => ({ messages: [], isWhole: true, checkpoint: null, before: null }),
    isHeld: async () => false,
    epoch: () => 1,
    parts: async () => [],
  }
  const recorder: TransitionRecorder = { ...noRecorder, record: (step) => steps.push(step) }
  const inner = createHost({
    journal,
    model: script.model,
    recorder,
    maxRunning: 10,
    historyMaxTokens: 100,
    generationTimeoutMs: 60_000,
    exchange: noExchange,
    gate: createLeaseGate(() => Number.POSITIVE_INFINITY),
    leaseMs: 1000,
    log: { error() {}, warn() {}, info() {} },
    ...options,
  })
  const host = createSessionHost(inner, [])
  const running = (sessionId: string) => {
    const info = host.registry.live.get(sessionId)?.reply?.log.info
    return info ? { replyId: info.id, instanceId: info.instanceId } : null
  }
  return { host, inner, script, steps, settled, hold, admit, journal }
}

async function started(host: ReturnType<typeof setUp>['host'], sessionId = 's'): Promise<Reply> {
  const sent = await host.send(message(sessionId))
  if (sent.outcome !== 'started') throw new Error(sent.outcome)
  return sent.reply
}

async function framesOf(reply: Reply): Promise<Frame[]> {
  const frames: Frame[] = []
  await reply.read(0, never, into(frames))
  return frames.filter((frame) => frame.type !== 'state')
}

const shapes = (frames: Frame[]) => frames.map((frame) => (frame.type === 'text' ? frame.text : frame.type))

afterEach(() => {
  vi.useRealTimers()
})

describe('races', () => {
  test('each step is recorded once, with where from, where to and why', async () => {
    const { host, script, steps, settled } = setUp()
    const frames = framesOf(await started(host))
    await script.push(say('a'), end)
    expect(shapes(await frames)).toEqual(['started', 'a', 'finished', 'done'])
    expect(steps.map(({ from, event, to }) => `${from} ${event} ${to}`)).toEqual([
      'idle message streaming.generating',
      'streaming.generating finished streaming.settling',
      'streaming.settling settled complete',
    ])
    expect(settled.map(({ outcome }) => outcome)).toEqual(['stop'])
  })

  verifies('contract-4.cancel', 'a cancel with the last token: the first of the two decides, once', async () => {
    const { host, script, settled } = setUp()
    const frames = framesOf(await started(host))
    const both = Promise.all([script.push(say('a'), end), host.cancel('s')])
    await both
    expect(shapes(await frames).at(-1)).toBe('done')
    expect(settled).toHaveLength(1)
  })

  test('a cancel while the outcome is being stored changes nothing', async () => {
    const { host, script, settled, hold } = setUp()
    const frames = framesOf(await started(host))
    const { promise, resolve } = Promise.withResolvers<void>()
    hold.settle = promise
    await script.push(say('a'), end)
    const cancelled = host.cancel('s')
    resolve()
    await cancelled
    await frames
    expect(settled.map(({ outcome }) => outcome)).toEqual(['stop'])
  })

  verifies(
    'contract-4.delete',
    'a deleted session’s streams end with session_deleted, the model is stopped',
    async () => {
      const { host, script, settled } = setUp()
      const frames = framesOf(await started(host))
      await script.push(say('a'))
      host.forget(['s'], [])
      expect((await frames).at(-1)).toMatchObject({ seq: 3, type: 'failed', error: { code: 'session_deleted' } })
      expect(script.aborted()).toBe(1)
      expect(settled).toEqual([])
      expect(host.registry.running()).toBe(0)
    },
  )

  test('a message right after a cancel runs on the same session', async () => {
    const { host, script } = setUp()
    const first = framesOf(await started(host))
    await script.push(say('a'))
    await host.cancel('s')
    const second = framesOf(await started(host))
    await script.push(say('b'), end)
    expect(shapes(await first)).toEqual(['started', 'a', 'finished', 'done'])
    expect(shapes(await second)).toEqual(['started', 'b', 'finished', 'done'])
  })
})

describe('limits', () => {
  verifies('contract-1.max-running', 'stateless replies count; those that are being admitted too', async () => {
    const { host } = setUp({ maxRunning: 2 })
    const slot = host.takeSlot('a')
    const sent = await Promise.all([host.send(message('x')), host.send(message('y'))])
    expect(sent.map(({ outcome }) => outcome).toSorted()).toEqual(['full', 'started'])
    expect(host.takeSlot('a')).toBe('full')
    if (typeof slot !== 'string') slot[Symbol.dispose]()
    expect(typeof host.takeSlot('a')).toBe('object')
  })

  verifies('contract-1.drain', 'nothing new is taken; what does not end in time ends as shutdown', async () => {
    const { host, script, settled } = setUp()
    const quick = framesOf(await started(host, 'quick'))
    await script.push(say('a'), end)
    await quick
    const slow = framesOf(await started(host, 'slow'))
    const slot = host.takeSlot('a')
    if (typeof slot === 'string') throw new Error(slot)
    slot.signal.addEventListener('abort', () => slot[Symbol.dispose]())
    const drained = host.drain(10, 1000)
    expect((await host.send(message('late'))).outcome).toBe('draining')
    expect(host.takeSlot('a')).toBe('draining')
    await drained
    expect((await slow).at(-1)).toMatchObject({ type: 'failed', error: { code: 'shutdown' } })
    expect(settled.map(({ outcome }) => outcome)).toEqual(['stop', 'shutdown'])
  })
})

describe('storage', () => {
  verifies(
    'contract-4.storage-outage',
    'after a lease without a write streams break off; the outcome is stored later',
    async () => {
      const { host, script, settled, hold } = setUp({ leaseMs: 5 })
      const reply = await started(host)
      const frames = framesOf(reply)
      frames.catch(() => {})
      const { promise, resolve } = Promise.withResolvers<void>()
      hold.append = promise
      await script.push(say('never shown'))
      const aborted = () => {
        host.tick()
        return script.aborted()
      }
      await expect.poll(aborted).toBe(1)
      await expect(frames).rejects.toBeInstanceOf(StreamCut)
      expect(settled).toEqual([])
      resolve()
      await expect.poll(() => settled.map(({ outcome }) => outcome)).toEqual(['internal'])
    },
  )

  verifies('contract-4.fencing', 'what ran under a lost epoch is cut; newer replies go on', async () => {
    const { host, script, steps } = setUp()
    const frames = framesOf(await started(host))
    frames.catch(() => {})
    await script.push() // the model is asked by now
    host.owned.fenced(0)
    expect(host.owned.running().size).toBe(1)
    host.owned.fenced(1)
    await expect(frames).rejects.toBeInstanceOf(StreamCut)
    expect(host.owned.running().size).toBe(0)
    expect(script.aborted()).toBe(1)
    expect(steps.map(({ event }) => event)).toEqual(['message']) // who declared it lost records that
  })
})

verifies('contract-4.orphans', 'a message whose admission is under way is no orphan', async () => {
  const { host, admit } = setUp()
  const sent = host.send(message())
  expect(host.owned.running()).toEqual(new Set([admit.mock.calls[0]?.[0].replyId]))
  await sent
  expect(host.owned.running().size).toBe(1)
})

test('a session that rests is let go at once, and shown for five seconds, one that runs for as long as it does', async () => {
  const { host, inner, script } = setUp()
  const frames = framesOf(await started(host, 'rests'))
  await script.push(end)
  await frames
  await started(host, 'runs')
  expect([...host.registry.live.keys()]).toEqual(['runs'])
  const shown = () => {
    host.tick()
    return reportOf(inner).actors.map(({ sessionId, state }) => `${sessionId} ${state}`)
  }
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 4000 })
  expect(shown()).toEqual(['runs streaming.generating', 'rests complete'])
  vi.setSystemTime(Date.now() + 60_000)
  expect(shown()).toEqual(['runs streaming.generating'])
})
