/** Frames of settled replies are deleted later, in batches (design section 3). */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ReplyInfo } from '../../src/actors/ports.ts'
import { createFrameClearing } from '../../src/persistence/replies/frame-clearing.ts'
import { tidyReplies } from '../../src/persistence/replies/housekeeping.ts'
import { deleteSession } from '../../src/persistence/replies/sessions.ts'
import { settle } from '../../src/persistence/replies/settlement.ts'
import { verifies } from '../verifies.ts'
import { finished, openScene, type Scene, textAt, versions } from './scene.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const seqs = async ({ sessionNum }: ReplyInfo) =>
    (await scene.sql<{ seq: number }[]>`select seq from frames where session_num = ${sessionNum} order by seq`).map(
      ({ seq }) => seq,
    )
  const clear = (...replies: ReplyInfo[]) =>
    scene.sql`select clear_frames(${replies.map(({ sessionNum }) => sessionNum)}::bigint[])`

  /** A reply settled from memory: its frames still exist. */
  async function settled(sessionId: string) {
    const reply = await scene.begin(sessionId)
    const said = [textAt(reply.firstSeq + 1, 'a'), textAt(reply.firstSeq + 2, 'b')]
    await scene.journal.append(reply, () => said)
    await settle(scene.sql, scene.instance.id, reply, finished({ events: said }))
    return { reply, said }
  }
  async function running(sessionId: string) {
    const reply = await scene.begin(sessionId)
    await scene.journal.append(reply, () => [textAt(reply.firstSeq + 1, 'c')])
    return reply
  }

  test('frames of a settled reply are deleted, those of the session’s next reply are kept', async () => {
    const session = await scene.newSession()
    const { reply } = await settled(session)
    const next = await running(session)
    const other = await running(await scene.newSession())
    expect(await seqs(reply)).toEqual([2, 3, next.firstSeq + 1])
    await clear(reply)
    expect(await seqs(reply)).toEqual([next.firstSeq + 1])
    await clear(reply, other, reply)
    expect(await seqs(reply)).toEqual([next.firstSeq + 1])
    expect(await seqs(other)).toEqual([2])
  })

  verifies('contract-4.resume', 'remaining frames affect neither reads nor writes', async () => {
    const session = await scene.newSession()
    const first = await settled(session)
    const next = await running(session)
    const [before, running_] = [await scene.journal.read(first.reply.id, 0), await scene.journal.read(next.id, 0)]
    expect([before?.events, running_?.events]).toEqual([first.said, [textAt(next.firstSeq + 1, 'c')]])
    await scene.journal.settle(next, finished()) // reads its frames
    expect((await scene.journal.read(next.id, 0))?.events).toEqual([textAt(next.firstSeq + 1, 'c')])
    expect(await scene.journal.read(first.reply.id, 0)).toEqual(before)
  })

  test('all frames of a deleted session are deleted', async () => {
    const gone = await running(await scene.newSession())
    await deleteSession(scene.sql, scene.agentId, gone.sessionId)
    await scene.journal.append(gone, () => [textAt(9, 'late')])
    await clear(gone)
    expect(await seqs(gone)).toEqual([])
  })

  test('the journal clears by itself, and the rest when it closes', async () => {
    const reply = await running(await scene.newSession())
    await scene.journal.settle(reply, finished({ events: [textAt(2, 'c')] }))
    await expect.poll(() => seqs(reply)).toEqual([])
    const { instance, journal } = await scene.another()
    const last = await scene.begin(await scene.newSession())
    const own = { ...last, instanceId: instance.id, epoch: instance.epoch() }
    await scene.sql`update messages set instance_id = ${own.instanceId}, epoch = ${own.epoch} where id = ${own.id}`
    const said = [textAt(2, 'x')]
    await journal.append(own, () => said)
    await journal.settle(own, finished({ events: said }))
    await journal.close()
    expect(await seqs(own)).toEqual([])
  })

  test('the tidy job deletes what a dead owner did not clear', async () => {
    const session = await scene.newSession()
    const { reply } = await settled(session)
    const next = await running(session)
    await tidyReplies(scene.sql, { sessionDays: null, transitionDays: 30 })
    expect(await seqs(reply)).toEqual([next.firstSeq + 1])
  })

  test('an unavailable database is logged, and nothing rejects', async () => {
    const onError = vi.fn()
    await scene.sql`alter function clear_frames rename to clear_frames_away`
    const clearing = createFrameClearing(scene.sql, onError)
    clearing.later(1)
    await clearing.close()
    expect(onError).toHaveBeenCalledOnce()
    clearing.later(2) // a settlement in progress
    await clearing.close()
    expect(onError).toHaveBeenCalledOnce()
    await scene.sql`alter function clear_frames_away rename to clear_frames`
  })
})
