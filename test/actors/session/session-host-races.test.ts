/** The host between two answers of its journal (contract sections 1 and 4): who wins, who waits, what is left over. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { StreamCut } from '../../../src/actors/reply/frame-log.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { end, fail, follow, message, openScene, say, started } from '../scene.ts'
import { turn } from '../turn.ts'

afterEach(() => void vi.useRealTimers())

describe('the actor of a session', () => {
  test('ends with its reply; the next message gets one that begins where that came to rest', async () => {
    const scene = openScene()
    const first = await scene.start()
    await scene.calls[0]?.say(say('a'), end)
    await first.done
    expect(scene.live()).toBeUndefined()
    const second = await scene.start()
    await scene.calls[1]?.say(say('b'), fail)
    await second.done
    expect(second.shapes()).toEqual(['started', 'b', 'failed'])
    expect(await scene.steps()).toEqual([
      'idle message streaming.generating',
      'streaming.generating finished streaming.settling',
      'streaming.settling settled complete',
      'complete message streaming.generating',
      'streaming.generating failed streaming.settling',
      'streaming.settling settled error',
    ])
    expect(scene.running()).toBe(0)
  })

  test('begins where the rows say when another instance has run a reply that ended otherwise', async () => {
    const scene = openScene()
    const first = await scene.start()
    await scene.calls[0]?.say(end)
    await first.done
    const [row] = scene.store.rows()
    if (row?.outcome) row.outcome = { ...row.outcome, type: 'finished', reason: 'cancelled' }
    await scene.start()
    expect((await scene.steps()).at(-1)).toBe('cancelled message streaming.generating')
    expect(scene.running()).toBe(1)
  })

  verifies('contract-11.create', 'goes on when a session that had its id before it is deleted late', async () => {
    const scene = openScene()
    const reply = await scene.start()
    scene.host.owned.apply({ kind: 'delete', sessionId: 's', replyId: 'of the session before it' })
    await scene.calls[0]?.say(say('a'), end)
    await reply.done
    expect(reply.shapes()).toEqual(['started', 'a', 'finished', 'done'])
  })

  test('makes way when its settlement is stored, its answer under way, and the next message there already', async () => {
    const scene = openScene()
    const first = await scene.start()
    scene.store.hold('settled')
    await scene.calls[0]?.say(say('a'), end)
    const second = await scene.start()
    expect(scene.running()).toBe(2)
    await scene.store.release('settled')
    await first.done
    expect(first.shapes()).toEqual(['started', 'a', 'finished', 'done'])
    expect(await scene.steps()).toContain('streaming.settling settled complete')
    await scene.calls[1]?.say(end)
    await second.done
    expect([scene.running(), scene.host.owned.running().size]).toEqual([0, 0])
  })

  test('makes way when others have ended its reply: that is cut, the model stopped, its place free', async () => {
    const scene = openScene()
    const first = await scene.start()
    const [row] = scene.store.rows()
    Object.assign(row ?? {}, { outcome: { type: 'finished', reason: 'stop', usage: {} } })
    await scene.start()
    await expect(first.done).rejects.toBeInstanceOf(StreamCut)
    expect(scene.calls.map(({ aborted }) => aborted)).toEqual([true, false])
    expect([scene.running(), scene.host.owned.running().size]).toEqual([1, 1])
  })
})

describe('interrupt', () => {
  verifies('contract-4.interrupt', 'the running reply is cancelled, settled, then the message admitted', async () => {
    const scene = openScene()
    const first = await scene.start()
    await scene.calls[0]?.say(say('half'))
    const second = await scene.start('s', { onBusy: 'interrupt' })
    await first.done
    expect(first.shapes()).toEqual(['started', 'half', 'finished', 'done'])
    expect(scene.calls.map(({ aborted }) => aborted)).toEqual([true, false])
    await scene.calls[1]?.say(end)
    await second.done
    expect(scene.store.rows().map(({ outcome }) => outcome)).toMatchObject([
      { reason: 'cancelled' },
      { reason: 'stop' },
    ])
  })

  verifies('contract-4.interrupt', 'of two at the same time one is admitted, the other is told 409', async () => {
    const scene = openScene()
    await scene.start()
    const sent = await Promise.all([
      scene.host.send(message('s', { onBusy: 'interrupt' })),
      scene.host.send(message('s', { onBusy: 'interrupt' })),
    ])
    expect(sent.map(({ outcome }) => outcome).toSorted()).toEqual(['busy', 'started'])
    expect(scene.running()).toBe(1)
  })

  verifies('contract-4.interrupt', 'a reply that does not settle within 2 s keeps the message out', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const scene = openScene()
    await scene.start()
    scene.store.hold('settle')
    const sent = scene.host.send(message('s', { onBusy: 'interrupt' }))
    await vi.advanceTimersByTimeAsync(1999)
    expect(await Promise.race([sent, turn()])).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect((await sent).outcome).toBe('busy')
  })

  verifies('contract-1.drain', 'a busy session refuses interrupts too, and its reply may finish', async () => {
    const scene = openScene()
    const first = await scene.start()
    const drained = scene.host.drain(60_000, 1000)
    await scene.calls[0]?.say(say('a'))
    expect((await scene.host.send(message('s', { onBusy: 'interrupt' }))).outcome).toBe('draining')
    // 503, not 409: to try again later, elsewhere, is all that helps.
    expect((await scene.host.send(message('s'))).outcome).toBe('draining')
    await scene.calls[0]?.say(say('b'), end)
    await Promise.all([first.done, drained])
    expect(first.shapes()).toEqual(['started', 'a', 'b', 'finished', 'done'])
    expect(scene.store.rows()[0]?.outcome).toMatchObject({ reason: 'stop' })
  })
})

describe('cancel', () => {
  verifies('contract-4.cancel', 'of a session where nothing runs is done at once', async () => {
    const scene = openScene()
    await scene.host.cancel('s')
    const first = await scene.start()
    await scene.calls[0]?.say(end)
    await first.done
    await scene.host.cancel('s')
    expect(scene.store.rows()[0]?.outcome).toMatchObject({ reason: 'stop' })
  })

  verifies('contract-4.cancel', 'before the first word: an empty reply, ended in order', async () => {
    const scene = openScene()
    const sent = started(await scene.host.send(message()))
    const reading = follow(sent.reply)
    await scene.host.cancel('s')
    await reading.done
    expect(reading.shapes()).toEqual(['started', 'finished', 'done'])
    expect(scene.store.rows()[0]?.outcome).toMatchObject({ type: 'finished', reason: 'cancelled' })
    expect(scene.running()).toBe(0)
  })

  verifies('contract-4.cancel', 'of a reply that another instance runs waits until it is settled there', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const [owner, other] = [openScene(), openScene()]
    await owner.start()
    other.store.journal.requestCancel = owner.store.journal.requestCancel
    other.store.journal.read = owner.store.journal.read
    let done = false
    const cancelled = other.host.cancel('s').then(() => {
      done = true
    })
    await vi.advanceTimersByTimeAsync(500)
    expect(done).toBe(false)
    const replyId = owner.store.rows()[0]?.info.id ?? ''
    owner.host.owned.apply({ kind: 'cancel', sessionId: 's', replyId })
    await turn()
    await vi.advanceTimersByTimeAsync(250)
    await cancelled
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('what is not stored', () => {
  test('a refused part makes the reply an error, also when the model ended well before the answer', async () => {
    const scene = openScene()
    const first = await scene.start()
    scene.store.hold('append')
    scene.store.refuseAppends()
    await scene.calls[0]?.say(say('a'), end)
    expect(scene.live()?.state).toBe('streaming.settling')
    await scene.store.release('append')
    await first.done
    expect(first.shapes()).toEqual(['started', 'failed'])
    expect(scene.store.rows()[0]?.outcome).toMatchObject({ type: 'failed', error: { code: 'internal' } })
    expect(scene.live()).toBeUndefined()
    expect((await scene.steps()).at(-1)).toBe('streaming.settling settled error')
  })

  verifies(
    ['contract-4.storage-outage', 'contract-4.resume'],
    'what was stored after its log had been cut is settled too: others may have shown it',
    async () => {
      const scene = openScene({ leaseMs: 0 })
      const first = await scene.start()
      await scene.calls[0]?.say(say('before '))
      scene.store.hold('append')
      await scene.calls[0]?.say(say('the outage'))
      await vi.waitFor(() => {
        scene.host.tick()
        expect(scene.calls[0]?.aborted).toBe(true)
      }, WAIT_MS)
      await expect(first.done).rejects.toBeInstanceOf(StreamCut)
      await scene.store.release('append')
      const [row] = scene.store.rows()
      expect(row?.outcome).toMatchObject({ type: 'failed' })
      expect(row?.events.map(({ seq, event }) => [seq, event.type === 'text' && event.text])).toEqual([
        [2, 'before '],
        [3, 'the outage'],
      ])
    },
  )

  verifies('contract-4.delete', 'a session deleted while its outcome is stored ends with session_deleted', async () => {
    const scene = openScene()
    const first = await scene.start()
    scene.store.hold('settle')
    await scene.calls[0]?.say(say('a'), end)
    scene.store.remove('s')
    scene.host.forget(['s'], [])
    await first.done
    await scene.store.release('settle')
    expect(first.frames.at(-1)).toMatchObject({ seq: 3, type: 'failed', error: { code: 'session_deleted' } })
    expect([scene.running(), scene.live(), scene.errors]).toEqual([0, undefined, []])
  })

  verifies(
    'contract-4.delete',
    'a session that others have deleted is found out when its outcome is stored',
    async () => {
      const scene = openScene()
      const first = await scene.start()
      scene.store.remove('s')
      await scene.calls[0]?.say(end)
      await first.done
      expect(first.frames.at(-1)).toMatchObject({ seq: 2, type: 'failed', error: { code: 'session_deleted' } })
      expect(scene.running()).toBe(0)
    },
  )

  verifies('contract-4.orphans', 'an actor whose row does not stream any more is dropped, with its model', async () => {
    const scene = openScene()
    const first = await scene.start()
    await scene.host.owned.dropOrphan(scene.store.rows()[0]?.info.id ?? '')
    await scene.host.owned.dropOrphan('unknown')
    await expect(first.done).rejects.toBeInstanceOf(StreamCut)
    expect([scene.running(), scene.calls[0]?.aborted]).toEqual([0, true])
  })

  verifies('contract-4.orphans', 'a row that nobody is at work on is settled as internal', async () => {
    const scene = openScene()
    await scene.store.journal.admit({ ...message().message, extras: {}, replyId: crypto.randomUUID(), mayStart: true })
    const [row] = scene.store.rows()
    if (row) await scene.host.owned.settleOrphan({ ...row.info, offered: null })
    expect(row).toMatchObject({ outcome: { type: 'failed', error: { code: 'internal' } }, requesterLost: true })
  })

  verifies('contract-4.retry-join', 'that the connection was lost is stored with the outcome', async () => {
    const scene = openScene()
    const first = await scene.start()
    first.requesterLost()
    const joined = await scene.host.send(message('s', { isRetry: true }))
    if (joined.outcome !== 'joined') throw new Error(joined.outcome)
    const again = follow(joined.reply)
    await scene.calls[0]?.say(say('a'), end)
    await Promise.all([first.done, again.done])
    expect(again.frames).toEqual(first.frames)
    expect(scene.store.rows()[0]?.requesterLost).toBe(true)
  })
})

verifies('contract-1.drain', 'a message that is being admitted when the drain begins may finish too', async () => {
  const scene = openScene()
  scene.store.hold('admitted')
  const sending = scene.host.send(message())
  const drained = scene.host.drain(60_000, 1000)
  await scene.store.release('admitted')
  const reading = follow(started(await sending).reply)
  await turn()
  await scene.calls[0]?.say(say('a'), end)
  await Promise.all([reading.done, drained])
  expect(reading.shapes()).toEqual(['started', 'a', 'finished', 'done'])
})
