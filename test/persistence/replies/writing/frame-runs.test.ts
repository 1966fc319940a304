/** Flushes are kept few: what long replies have said becomes runs of their own, the rest goes (design section 3). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ReplyInfo } from '../../../../src/actors/ports/index.ts'
import { tidyReplies } from '../../../../src/features/sessions/store/housekeeping.ts'
import { deleteSession } from '../../../../src/features/sessions/store/sessions.ts'
import { settle } from '../../../../src/persistence/replies/settling/settlement.ts'
import { createFrameRuns } from '../../../../src/persistence/replies/writing/frame-runs.ts'
import { storedFrames } from '../../../support/frames.ts'
import { verifies } from '../../../verifies.ts'
import { finished, openScene, type Scene, settling, textAt, toolCallAt, versions } from '../../scene.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const seqs = async ({ sessionNum }: ReplyInfo) => (await storedFrames(scene.sql, sessionNum)).map(({ seq }) => seq)
  const flushesOf = ({ instanceId }: ReplyInfo) =>
    scene.sql<{ num: number }[]>`select num from flushes where instance_id = ${instanceId} order by num`
  const move = async ({ instanceId, epoch }: ReplyInfo, upto = Number.MAX_SAFE_INTEGER) =>
    (await scene.sql<{ num: number }[]>`select move_frames(${instanceId}, ${epoch}, ${upto}) as num`).map(
      ({ num }) => num,
    )
  const clear = (...replies: ReplyInfo[]) =>
    scene.sql`select clear_frames(${replies.map(({ sessionNum }) => sessionNum)}::bigint[])`
  const read = async ({ id }: ReplyInfo, after = 0, readTo?: number) =>
    (await scene.journal.read(id, after, readTo))?.events

  /** A reply settled from memory, whose frames were moved before: they still exist. */
  async function settled(sessionId: string) {
    const reply = await scene.begin(sessionId)
    const said = [textAt(reply.firstSeq + 1, 'a'), textAt(reply.firstSeq + 2, 'b')]
    await scene.journal.append(reply, () => said)
    await move(reply)
    await settle(settling(scene), reply, finished({ events: said }))
    return { reply, said }
  }
  async function running(sessionId: string) {
    const reply = await scene.begin(sessionId)
    await scene.journal.append(reply, () => [textAt(reply.firstSeq + 1, 'c')])
    return reply
  }

  verifies('contract-4.resume', 'moving changes nothing that is read of a reply, from whatever id', async () => {
    const reply = await scene.begin(await scene.newSession())
    const said = [textAt(2, 'a'), toolCallAt(2, 1, 'c1'), textAt(3, 'é'), textAt(4, 'c')]
    for (const event of said) await scene.journal.append(reply, () => [event])
    const nums = (await flushesOf(reply)).map(({ num }) => num)
    for (const upto of nums) {
      expect(await move(reply, upto)).toEqual([reply.sessionNum])
      expect((await flushesOf(reply)).map(({ num }) => num)).toEqual(nums.filter((num) => num > upto))
      for (const after of [0, 1, 2, 3, 4]) {
        const expected = said.filter(({ seq, part }) => seq > after || (seq === after && part > 0))
        expect(await read(reply, after)).toEqual(expected)
      }
    }
    await scene.journal.settle(reply, finished())
    expect(await read(reply)).toEqual(said)
  })

  verifies('contract-7.follow', 'whoever read so far reads what came since, moved or not', async () => {
    const reply = await running(await scene.newSession())
    const first = await scene.journal.read(reply.id, 0)
    await scene.journal.append(reply, () => [textAt(3, 'd')])
    expect(await read(reply, 2, first?.readTo)).toEqual([textAt(3, 'd')])
    await move(reply)
    await scene.journal.append(reply, () => [textAt(4, 'e')])
    expect(await read(reply, 2, first?.readTo)).toEqual([textAt(3, 'd'), textAt(4, 'e')])
  })

  test('a flush that came late, after it had been moved, takes nothing away and adds nothing', async () => {
    const reply = await running(await scene.newSession())
    for (const event of [textAt(3, 'd'), textAt(4, 'e'), textAt(5, 'f')])
      await scene.journal.append(reply, () => [event])
    await move(reply)
    await scene.sql`
      insert into flushes (instance_id, epoch, num, session_nums, seqs, parts, texts)
      values (${reply.instanceId}, ${reply.epoch}, 1, ${[reply.sessionNum, reply.sessionNum]}::bigint[],
              ${[2, 3]}::bigint[], ${[0, 0]}::smallint[], ${['c', 'd']}::text[])`
    const said = [textAt(2, 'c'), textAt(3, 'd'), textAt(4, 'e'), textAt(5, 'f')]
    expect(await read(reply)).toEqual(said)
    await move(reply)
    for (const after of [0, 1, 2, 3, 4, 5])
      expect(await read(reply, after)).toEqual(said.filter(({ seq }) => seq > after))
    await scene.journal.settle(reply, finished())
    expect(await read(reply)).toEqual(said)
  })

  test('two that move at once move each flush once', async () => {
    const reply = await running(await scene.newSession())
    await Promise.all([move(reply), move(reply), move(reply)])
    expect(await seqs(reply)).toEqual([2])
  })

  test('frames of a settled reply are deleted, those of the session’s next reply are kept', async () => {
    const session = await scene.newSession()
    const { reply } = await settled(session)
    const next = await running(session)
    const other = await running(await scene.newSession())
    await move(next)
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
    const [before, running_] = [await read(first.reply), await read(next)]
    expect([before, running_]).toEqual([first.said, [textAt(next.firstSeq + 1, 'c')]])
    await scene.journal.settle(next, finished()) // reads its frames
    expect(await read(next)).toEqual([textAt(next.firstSeq + 1, 'c')])
    expect(await read(first.reply)).toEqual(before)
  })

  test('all frames of a deleted session are deleted', async () => {
    const gone = await running(await scene.newSession())
    await move(gone)
    expect(await seqs(gone)).toEqual([2])
    await deleteSession(scene.sql, scene.agentId, gone.sessionId)
    expect(await seqs(gone)).toEqual([])
    await scene.journal.append(gone, () => [textAt(9, 'late')])
    await move(gone)
    expect(await seqs(gone)).toEqual([])
  })

  verifies(
    'contract-4.delete',
    'deleted together: one flush holds what several said, and keeps only the others',
    async () => {
      const replies: ReplyInfo[] = []
      for (let n = 0; n < 4; n++) replies.push(await scene.begin(await scene.newSession()))
      await Promise.all(replies.map((reply) => scene.journal.append(reply, () => [textAt(2, 'x')])))
      const [first, second, third, kept] = replies
      if (!first || !second || !third || !kept) throw new Error('Four were begun.')
      const rows = await scene.sql<{ id: string }[]>`
      select delete_sessions(${scene.agentId}, ${[first.sessionId, third.sessionId, randomUUID()]}::text[]::uuid[]) as id`
      expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([first.sessionId, third.sessionId]))
      expect(await Promise.all(replies.map(seqs))).toEqual([[], [2], [], [2]])
      const intents = await scene.sql<{ session_id: string }[]>`select session_id from intents where kind = 'delete'`
      expect(intents.map(({ session_id }) => session_id)).toEqual(
        expect.arrayContaining([first.sessionId, third.sessionId]),
      )
      expect(await scene.sql`select delete_sessions(${randomUUID()}, array[${kept.sessionId}::uuid])`).toEqual([])
      expect(await read(second)).toEqual([textAt(2, 'x')])
    },
  )

  verifies('contract-4.delete', 'a deletion waits for what is being moved, and leaves none of it', async () => {
    const gone = await running(await scene.newSession())
    const deleting = await scene.sql.begin(async (sql) => {
      await sql`select move_frames(${gone.instanceId}, ${gone.epoch}, ${Number.MAX_SAFE_INTEGER})`
      const deleted = deleteSession(scene.sql, scene.agentId, gone.sessionId)
      await expect.poll(() => scene.waiting()).toBe(1)
      return { deleted }
    })
    expect(await deleting.deleted).not.toBeNull()
    expect(await seqs(gone)).toEqual([])
  })

  test('an instance moves what is old by itself, deletes what has ended, and the rest when it closes', async () => {
    const reply = await running(await scene.newSession())
    const [last] = (await flushesOf(reply)).slice(-1)
    const { id: instanceId } = scene.instance
    const runs = createFrameRuns({ sql: scene.sql, instanceId, intervalMs: 5, onError: expect.unreachable })
    runs.stored(reply.epoch, last?.num ?? 0)
    await expect.poll(() => flushesOf(reply)).toHaveLength(0)
    expect(await seqs(reply)).toEqual([2])
    await settle(settling(scene), reply, finished({ events: [textAt(2, 'c')] }))
    runs.ended(reply.sessionNum)
    await expect.poll(() => seqs(reply)).toEqual([])
    const { reply: ended } = await settled(await scene.newSession())
    const open = await running(await scene.newSession())
    runs.stored(open.epoch, ((await flushesOf(open)).at(-1)?.num ?? 0) + 1)
    await runs.close()
    await expect.poll(() => flushesOf(open)).toEqual([]) // it waits a second at most
    expect(await seqs(open)).toEqual([2])
    expect(await seqs(ended)).toEqual([2, 3]) // moved by hand: it never knew
  })

  test('what could not be moved is moved later, with no further flush, however much it is', async () => {
    const reply = await running(await scene.newSession())
    const { id: instanceId } = scene.instance
    await scene.sql`
      insert into flushes (instance_id, epoch, num, session_nums, seqs, parts, texts)
      select ${instanceId}, ${reply.epoch}, 1000000 + n, array[${reply.sessionNum}::bigint], array[n + 2], array[0],
             array[n::text] from generate_series(1, 1200) n`
    const onError = vi.fn()
    await scene.sql`alter function move_frames rename to move_frames_away`
    const runs = createFrameRuns({ sql: scene.sql, instanceId, intervalMs: 5, onError })
    runs.stored(reply.epoch, 1_000_001)
    runs.stored(reply.epoch, 1_001_200)
    await expect.poll(() => onError.mock.calls.length).toBeGreaterThan(1)
    await scene.sql`alter function move_frames_away rename to move_frames`
    await expect.poll(() => flushesOf(reply)).toHaveLength(0)
    expect(await read(reply)).toHaveLength(1201)
    await runs.close()
  })

  test('the tidy job deletes what dead owners did not', async () => {
    const session = await scene.newSession()
    const { reply } = await settled(session)
    const next = await running(session)
    await move(next)
    const { instance, journal } = await scene.another()
    const other = { ...(await scene.begin(await scene.newSession())), instanceId: instance.id, epoch: instance.epoch() }
    await scene.sql`update messages set instance_id = ${instance.id} where id = ${other.id}`
    await journal.append(other, () => [textAt(2, 'x')])
    const tidy = () => tidyReplies(scene.sql, null)
    await tidy()
    expect(await seqs(reply)).toEqual([next.firstSeq + 1])
    expect(await flushesOf(other)).toHaveLength(1) // a flush of an owner that is there
    await scene.sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
    await tidy()
    expect(await flushesOf(other)).toHaveLength(1) // its reply is not settled yet
    await scene.sql`update messages set status = 'complete' where id = ${other.id}`
    await tidy()
    expect(await flushesOf(other)).toHaveLength(0)
  })

  test('an unavailable database is logged, and nothing rejects', async () => {
    const onError = vi.fn()
    await scene.sql`alter function move_frames rename to move_frames_away`
    const runs = createFrameRuns({ sql: scene.sql, instanceId: scene.instance.id, onError })
    runs.stored(1, 1)
    await runs.close()
    await expect.poll(() => onError.mock.calls.length).toBe(1)
    runs.ended(2) // a settlement in progress
    await scene.sql`alter function move_frames_away rename to move_frames`
  })
})
