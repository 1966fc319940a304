/** Steps of replies, stored beside them: they hold back no reply, and go with their session. */
import { afterAll, beforeAll, describe, expect, vi } from 'vitest'
import type { ReplyInfo, TransitionRecord } from '../../../../src/actors/ports/index.ts'
import { deleteSession } from '../../../../src/features/sessions/store/sessions.ts'
import { recordTransitions } from '../../../../src/features/traces/store/transitions.ts'
import { createTransitionRecorder } from '../../../../src/features/traces/transitions.ts'
import { finished, newAgent, openScene, type Scene, versions } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const request = { turn: 1, at: new Date(), model: 'test-model', body: '{}', texts: [], historyFrom: null, left: null }

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const record = (sessions: readonly string[]) => {
    const steps = sessions.map(
      (sessionId): TransitionRecord => ({
        sessionId,
        at: new Date(),
        from: 'idle',
        to: 'streaming.generating',
        event: 'message',
        messageId: crypto.randomUUID(),
        detail: {},
        request: { ...request, providerId: crypto.randomUUID() },
      }),
    )
    return recordTransitions(scene.sql, scene.instance.id, steps)
  }
  const sessionsWithSteps = async () => {
    const rows = await scene.sql<{ id: string }[]>`select distinct session_id as id from step_runs`
    return rows.map(({ id }) => id)
  }

  verifies(
    ['spec-4.12.delete', 'contract-2.agent-delete'],
    'they go with their session, whoever deletes it',
    async () => {
      const doomed = await newAgent(scene.sql)
      const rows = await scene.sql<{ id: string }[]>`
      insert into sessions (agent_id) select ${doomed}::uuid from generate_series(1, 3) returning id`
      const [single, ...others] = rows.map(({ id }) => id)
      const kept = await scene.newSession()
      const all = [kept, ...(single === undefined ? [] : [single]), ...others]
      await record(all)
      expect((await sessionsWithSteps()).sort()).toEqual([...all].sort())
      await deleteSession(scene.sql, doomed, single ?? '')
      expect((await sessionsWithSteps()).sort()).toEqual([kept, ...others].sort())
      // By the foreign key of its sessions, which no function of ours asks for.
      await scene.sql`delete from agents where id = ${doomed}`
      expect(await sessionsWithSteps()).toEqual([kept])
      // Nor do any come behind it.
      await record(all)
      expect(await sessionsWithSteps()).toEqual([kept])
    },
  )

  verifies('contract-8.transitions', 'what a write stored whose answer was lost is stored once', async () => {
    const [one, other] = [await scene.begin(await scene.newSession()), await scene.begin(await scene.newSession())]
    const step = (reply: ReplyInfo, event: string, detail = {}): TransitionRecord => {
      const { sessionId, id: messageId } = reply
      const to = 'streaming.generating'
      return { sessionId, at: new Date(), from: to, to, event, messageId, detail, kind: 'note' }
    }
    let writes = 0
    const store = {
      async record(batch: readonly TransitionRecord[]) {
        await recordTransitions(scene.sql, scene.instance.id, batch)
        writes += 1
        if (writes === 1) throw new Error('The answer was lost.')
      },
    }
    const recorder = createTransitionRecorder(store, () => {})
    for (const reply of [one, other]) recorder.record(step(reply, 'attempt', { span: 'a1' }))
    await recorder.flush()
    recorder.record(step(one, 'tool', { span: 't1' }))
    // Its settlement does not store them either.
    const settle = vi.fn(async () => ({ result: 'fenced' as const }))
    await recorder.settle({ ...step(other, 'settled'), messageId: other.id }, settle)
    expect(settle.mock.calls).toEqual([[]])
    await recorder.flush()
    const rows = await scene.sql<{ id: string; event: string }[]>`
      select message_id as id, event from steps where message_id in (${one.id}, ${other.id}) order by seq`
    expect([writes, rows]).toEqual([
      3,
      [
        { id: one.id, event: 'attempt' },
        { id: other.id, event: 'attempt' },
        { id: one.id, event: 'tool' },
      ],
    ])
  })

  verifies(
    'contract-4.stored-before-shown',
    'neither admission nor settlement waits for who records them',
    async () => {
      const session = await scene.newSession()
      await scene.sql.begin(async (recorder) => {
        // As recordTransitions locks it, in a statement that takes long.
        await recorder`select from sessions where id = ${session} for key share`
        const reply = await scene.begin(session)
        expect(await scene.journal.settle(reply, finished())).toMatchObject({ result: 'settled' })
      })
    },
  )
})
