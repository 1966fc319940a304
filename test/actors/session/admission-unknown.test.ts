/** A message of which it is not known whether it is stored: what its owner does meanwhile (contract section 10, "503"). */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Admission, NewMessage } from '../../../src/actors/ports/index.ts'
import { findAdmitted } from '../../../src/actors/session/recover-admission.ts'
import { verifies } from '../../verifies.ts'
import { end, message, openScene, say } from '../scene.ts'
import { turn } from '../turn.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const leaseMs = 1000

/** A host whose every message is of unknown outcome; `look` answers what is asked about it afterwards. */
function openUnknown(look: (message: NewMessage) => Promise<Admission>) {
  const asked: NewMessage[] = []
  const { store } = openScene()
  const journal = {
    ...store.journal,
    async admit(wanted: NewMessage): Promise<Admission> {
      asked.push(wanted)
      return asked.length === 1 ? { outcome: 'unknown' } : await look(wanted)
    },
  }
  const scene = openScene({ journal, leaseMs, maxRunning: 1 })
  /** As the lost call would have stored it. */
  const stored = (wanted: NewMessage) => store.journal.admit({ ...wanted, mayStart: true })
  return { ...scene, store, asked, stored }
}

const notYet = async (): Promise<Admission> => ({ outcome: 'unknown' })

verifies(
  'contract-10.unknown-admission',
  'only looks, under the same id, until it is found, and begins it once',
  async () => {
    let found = false
    const scene = openUnknown((wanted) => (found ? scene.stored(wanted) : notYet()))
    expect(await scene.host.send(message('s', { isRetry: true }))).toEqual({ outcome: 'unknown' })
    await vi.advanceTimersByTimeAsync(leaseMs / 2)
    found = true
    await vi.advanceTimersByTimeAsync(leaseMs / 2 - 1)
    const [first, ...looks] = scene.asked
    expect(looks.length).toBeGreaterThan(2)
    for (const look of looks)
      expect(look).toMatchObject({ replyId: first?.replyId, mayStart: false, isLate: true, isRetry: false })
    expect(scene.calls).toHaveLength(1)
    const lookups = scene.asked.length
    await scene.calls[0]?.say(say('found'), end)
    await vi.advanceTimersByTimeAsync(leaseMs)
    expect(scene.store.rows()).toMatchObject([{ info: { id: first?.replyId }, requesterLost: true }])
    expect(scene.store.rows()[0]?.outcome).toMatchObject({ type: 'finished', reason: 'stop' })
    expect(scene.asked).toHaveLength(lookups)
    expect([scene.running(), scene.host.owned.running().size]).toEqual([0, 0])
  },
)

verifies(
  'contract-10.unknown-admission',
  'counts as running, and is no orphan, for one lease and no longer',
  async () => {
    const hung = openUnknown(() => new Promise(() => {}))
    const waiting = openUnknown(notYet)
    const away = openUnknown(() => Promise.reject(new Error('away')))
    for (const scene of [hung, waiting, away]) {
      await scene.host.send(message())
      const [first] = scene.asked
      await vi.advanceTimersByTimeAsync(leaseMs - 1)
      expect([...scene.host.owned.running()]).toEqual([first?.replyId])
      expect(scene.host.takeSlot('a')).toBe('full')
      await vi.advanceTimersByTimeAsync(1)
      expect(scene.host.owned.running().size).toBe(0)
      expect(scene.host.takeSlot('a')).not.toBe('full')
      expect(scene.calls).toHaveLength(0)
    }
  },
)

verifies('contract-10.unknown-admission', 'found after its lease, it is not begun', async () => {
  const late = Promise.withResolvers<void>()
  const scene = openUnknown((wanted) => late.promise.then(() => scene.stored(wanted)))
  await scene.host.send(message())
  await vi.advanceTimersByTimeAsync(leaseMs)
  late.resolve()
  await turn()
  expect([scene.calls.length, scene.running(), scene.host.owned.running().size]).toEqual([0, 0, 0])
})

verifies(
  ['contract-10.unknown-admission', 'contract-4.cancel'],
  'a cancel that comes first is obeyed at its start',
  async () => {
    const found = Promise.withResolvers<void>()
    const scene = openUnknown((wanted) => found.promise.then(() => scene.stored(wanted)))
    await scene.host.send(message())
    await vi.advanceTimersByTimeAsync(100)
    const replyId = scene.asked[0]?.replyId ?? ''
    scene.host.owned.apply({ kind: 'cancel', sessionId: 's', replyId })
    found.resolve()
    await turn()
    await turn()
    expect(scene.store.rows()[0]?.outcome).toMatchObject({ type: 'finished', reason: 'cancelled' })
  },
)

verifies(
  ['contract-10.unknown-admission', 'contract-4.delete'],
  'a deletion that comes first ends it before any call',
  async () => {
    const found = Promise.withResolvers<void>()
    const scene = openUnknown((wanted) => found.promise.then(() => scene.stored(wanted)))
    await scene.host.send(message())
    await vi.advanceTimersByTimeAsync(100)
    const replyId = scene.asked[0]?.replyId ?? ''
    scene.host.owned.apply({ kind: 'delete', sessionId: 's', replyId })
    found.resolve()
    await turn()
    await turn()
    expect([scene.calls.length, scene.running(), scene.host.owned.running().size]).toEqual([0, 0, 0])
  },
)

verifies(['contract-10.unknown-admission', 'contract-1.drain'], 'a drain waits for it, and for its reply', async () => {
  const found = Promise.withResolvers<void>()
  const scene = openUnknown((wanted) => found.promise.then(() => scene.stored(wanted)))
  await scene.host.send(message())
  await vi.advanceTimersByTimeAsync(100)
  let drained = false
  const drain = scene.host.drain(60_000, 0).then(() => {
    drained = true
  })
  await turn()
  found.resolve()
  await turn()
  expect([drained, scene.calls.length]).toEqual([false, 1])
  await scene.calls[0]?.say(end)
  await drain
  expect(scene.store.rows()[0]?.outcome).toMatchObject({ type: 'finished', reason: 'stop' })
})

test.each(['joined', 'key_reused', 'not_found', 'fenced'] as const)('%s ends the search', async (outcome) => {
  let looks = 0
  const look = async (): Promise<Admission> => {
    looks += 1
    return outcome === 'joined' ? { outcome, replyId: 'r' } : { outcome }
  }
  expect(await findAdmitted(look, leaseMs)).toBeNull()
  expect(looks).toBe(1)
})
