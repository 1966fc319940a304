/** The contract between the host and its extensions: when each hook is called, in which order, and what a failing one does. */
import { describe, expect, test, vi } from 'vitest'
import type { ModelEvent } from '../../../src/actors/ports/index.ts'
import { StreamCut } from '../../../src/actors/reply/frame-log.ts'
import type { HostExtension } from '../../../src/actors/session/host.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { memoryJournal } from '../memory-journal.ts'
import { end, message, openScene, say } from '../scene.ts'
import { turn } from '../turn.ts'

const toolCall: ModelEvent = { type: 'tool_call', call: { id: 'c', name: 'tool', arguments: '{}' } }
const endOfTurn: ModelEvent = { type: 'end', reason: 'tool_calls', usage: null }
const openToolbox = async () => ({
  tools: [{ name: 'tool', description: 'd', inputSchema: { type: 'object' } }],
  call: async () => ({ ok: true, content: '' }),
})

interface Answers {
  boundary?: ('ends' | 'waited' | null)[]
  isLost?: boolean
}

/** An extension that notes its calls. */
function noting(name: string, calls: string[], { boundary = [], isLost = false }: Answers = {}): HostExtension {
  return {
    async atBoundary({ isStored }) {
      calls.push(`${name} boundary ${isStored}`)
      return boundary.shift() ?? null
    },
    async onLost() {
      calls.push(`${name} lost`)
      return isLost
    },
    async onDrain({ type }) {
      calls.push(`${name} drain ${type}`)
    },
    onEnd: (next) => void calls.push(`${name} end ${next}`),
  }
}

/** A reply with one turn of calls, in a host with two extensions. */
async function twoTurns(first: Answers, second: Answers = {}) {
  const calls: string[] = []
  const scene = openScene({}, () => [noting('a', calls, first), noting('b', calls, second)])
  const reply = await scene.start('s', { openToolbox })
  await scene.calls[0]?.say(toolCall, endOfTurn)
  while (scene.calls.length < 2 && scene.live() !== undefined) await turn()
  await scene.calls[1]?.say(end)
  await reply.done
  return { calls, outcome: scene.store.rows()[0]?.outcome }
}

describe('at a boundary', () => {
  test('extensions are asked in their order, before the model is', async () => {
    const { calls, outcome } = await twoTurns({})
    expect(calls).toEqual(['a boundary true', 'b boundary true', 'a end null', 'b end null'])
    expect(outcome).toMatchObject({ reason: 'stop' })
  })

  test('the first that ends the reply ends it', async () => {
    const { calls, outcome } = await twoTurns({ boundary: ['ends'] })
    expect(calls).toEqual(['a boundary true', 'a end null', 'b end null'])
    expect(outcome).toMatchObject({ reason: 'steered' })
  })

  test('those before one that made the reply wait are asked once more', async () => {
    const { calls, outcome } = await twoTurns({ boundary: [null, 'ends'] }, { boundary: ['waited'] })
    expect(calls.slice(0, 3)).toEqual(['a boundary true', 'b boundary true', 'a boundary true'])
    expect(outcome).toMatchObject({ reason: 'steered' })
  })
})

/** A reply of which nothing could be stored for a lease, until its outcome can. */
async function unstorable(extensions: readonly HostExtension[]) {
  const scene = openScene({ leaseMs: 0 }, () => extensions)
  const reply = await scene.start()
  scene.store.hold('append')
  await scene.calls[0]?.say(say('the outage'))
  await vi.waitFor(() => {
    scene.host.tick()
    expect(scene.calls[0]?.aborted).toBe(true)
  }, WAIT_MS)
  await expect(reply.done).rejects.toBeInstanceOf(StreamCut)
  await scene.store.release('append')
  await vi.waitFor(() => expect(scene.running()).toBe(0), WAIT_MS)
  return scene
}

test('the first that lets another instance go on with a lost reply is the last that is asked', async () => {
  const calls: string[] = []
  const given = await unstorable([noting('a', calls, { isLost: true }), noting('b', calls)])
  expect(calls).toEqual(['a lost'])
  expect(given.store.rows()[0]?.outcome).toBeNull()
})

test('a reply that no extension lets go on elsewhere fails', async () => {
  const calls: string[] = []
  const kept = await unstorable([noting('a', calls), noting('b', calls)])
  expect(calls).toEqual(['a lost', 'b lost', 'a end null', 'b end null'])
  expect(kept.store.rows()[0]?.outcome).toMatchObject({ type: 'failed', error: { code: 'internal' } })
})

test('both stages of a drain reach all extensions, the second once the time of replies is over', async () => {
  const calls: string[] = []
  const scene = openScene({}, () => [noting('a', calls), noting('b', calls)])
  const reply = await scene.start()
  const drained = scene.host.drain(60_000, 60_000)
  await turn()
  expect(calls).toEqual(['a drain begins', 'b drain begins'])
  await scene.calls[0]?.say(end)
  await Promise.all([reply.done, drained])
  expect(calls.slice(2)).toEqual(['a end null', 'b end null', 'a drain over', 'b drain over'])
})

const queued = { outcome: 'queued', replyId: 'r', position: 2 } as const

test('the extension that makes messages wait answers the sender of one that waits', async () => {
  const waits = { ...queued, begun: async () => null, requesterLost() {} }
  const asked: unknown[] = []
  const journal = { ...memoryJournal().journal, admit: async () => queued }
  const onBusy: HostExtension['onBusy'] = async (...given) => {
    asked.push(given)
    return waits
  }
  const { host } = openScene({ journal }, () => [{ onEnd() {} }, { onBusy }])
  expect(await host.send(message())).toBe(waits)
  expect(asked).toEqual([[{ ...queued, sessionId: 's' }, true]])
})

test.for([
  ['with an extension that makes messages wait', [{ onBusy: async () => ({ outcome: 'busy' }) as const }], true],
  ['without one', [{}], false],
] as const)('a message may wait %s: %#', async ([_, extensions, mayQueue]) => {
  const asked: unknown[] = []
  const { journal } = memoryJournal()
  const admit: typeof journal.admit = async (wanted) => {
    asked.push(wanted.mayQueue)
    return { outcome: 'busy' }
  }
  const { host } = openScene({ journal: { ...journal, admit } }, () => extensions)
  await host.send(message())
  expect(asked).toEqual([mayQueue])
})

/** Each hook fails, at once or by its promise. */
const failing: Record<string, HostExtension> = {
  'at once': {
    atBoundary() {
      throw new Error('atBoundary')
    },
    onLost() {
      throw new Error('onLost')
    },
    onDrain() {
      throw new Error('onDrain')
    },
    onEnd() {
      throw new Error('onEnd')
    },
  },
  later: {
    atBoundary: () => Promise.reject(new Error('atBoundary')),
    onLost: () => Promise.reject(new Error('onLost')),
    onDrain: () => Promise.reject(new Error('onDrain')),
  },
}

describe.for(Object.entries(failing))('an extension that fails %s', ([, extension]) => {
  const messages = (errors: unknown[]) =>
    errors.map((error) =>
      error instanceof Object && 'err' in error && error.err instanceof Error ? error.err.message : error,
    )

  test('ends no reply, and no other extension; the fault is logged', async () => {
    const calls: string[] = []
    const scene = openScene({}, () => [extension, noting('b', calls)])
    const reply = await scene.start('s', { openToolbox })
    await scene.calls[0]?.say(toolCall, endOfTurn)
    while (scene.calls.length < 2) await turn()
    await scene.calls[1]?.say(say('Done.'), end)
    await reply.done
    await scene.host.drain(0, 0)
    expect(scene.store.rows()[0]?.outcome).toMatchObject({ reason: 'stop' })
    expect(calls).toEqual(['b boundary true', 'b end null', 'b drain begins', 'b drain over'])
    expect(messages(scene.errors)).toEqual(['atBoundary', ...(extension.onEnd ? ['onEnd'] : []), 'onDrain', 'onDrain'])
  })

  test('takes no reply away that it cannot let go on elsewhere', async () => {
    const calls: string[] = []
    const scene = await unstorable([extension, noting('b', calls)])
    expect(calls).toEqual(['b lost', 'b end null'])
    expect(scene.store.rows()[0]?.outcome).toMatchObject({ type: 'failed', error: { code: 'internal' } })
    expect(messages(scene.errors)[0]).toBe('onLost')
  })
})
