/** Sessions, their lists, removal and retention, at SQL level. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSession } from '../../../../src/features/branches/store/new-session.ts'
import { tidyReplies } from '../../../../src/features/sessions/store/housekeeping.ts'
import * as sessions from '../../../../src/features/sessions/store/sessions.ts'
import * as transitions from '../../../../src/features/traces/store/transitions.ts'
import { listMessages } from '../../../persistence/list-messages.ts'
import { failed, finished, newAgent, openScene, type Scene, textAt, versions } from '../../../persistence/scene.ts'
import { storedFrames, storeFrame } from '../../../support/frames.ts'
import { verifies } from '../../../verifies.ts'

const unknown = '00000000-0000-4000-8000-00000000dead'
const page = { limit: 20, offset: 0 }

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const rowsOf = async (table: 'messages' | 'idempotency_keys' | 'step_runs' | 'intents', session: string) =>
    (await scene.sql`select 1 from ${scene.sql(table)} where session_id = ${session}`).length
  const framesOf = async (num: number) => (await storedFrames(scene.sql, num)).length
  const age = (session: string, days: number) =>
    scene.sql`update sessions set updated_at = clock_timestamp() - ${`${days} days`}::interval where id = ${session}`

  const newSession = async (agentId: string, title: string | null = null): Promise<string> => {
    const session = await createSession(scene.sql, agentId, { title })
    if (session === null || typeof session === 'string') throw new Error(`not made: ${session}`)
    return session.id
  }

  verifies(
    'spec-4.12.list',
    'a message or the end of a reply moves a session to the top of its agent’s list',
    async () => {
      const agentId = await newAgent(scene.sql)
      const ids: string[] = []
      for (let i = 0; i < 3; i++) ids.push(await newSession(agentId, `Title ${i}`))
      const [a = '', b = '', c = ''] = ids
      const list = async (q?: string) => {
        const found = await sessions.listSessions(scene.sql, agentId, { ...page, ...(q === undefined ? {} : { q }) })
        return { ids: found?.items.map(({ id }) => id), total: found?.total }
      }
      expect(await list()).toEqual({ ids: [c, b, a], total: 3 })
      const reply = await scene.begin(a, { agentId })
      expect((await list()).ids).toEqual([a, c, b])
      await scene.begin(b, { agentId })
      await scene.journal.settle(reply, finished())
      expect((await list()).ids).toEqual([a, b, c])
      expect(await list('TITLE 1')).toEqual({ ids: [b], total: 1 })
      expect(await sessions.listSessions(scene.sql, unknown, page)).toBeNull()
      expect(await sessions.listSessions(scene.sql, 'not-a-uuid', page)).toBeNull()
      expect(await createSession(scene.sql, unknown)).toBeNull()
    },
  )

  verifies('spec-4.12.messages', 'messages are oldest first, a running one with what is stored so far', async () => {
    const session = await scene.newSession()
    expect(await listMessages(scene.sql, scene.agentId, session)).toEqual([])
    const reply = await scene.begin(session, { text: 'Hi' })
    const read = async () =>
      (await listMessages(scene.sql, scene.agentId, session))?.map(({ role, content, status, finishReason }) => ({
        role,
        content,
        status,
        finishReason,
      }))
    const user = { role: 'user', content: 'Hi', status: 'complete', finishReason: null }
    expect(await read()).toEqual([user, { role: 'assistant', content: '', status: 'streaming', finishReason: null }])
    await scene.journal.append(reply, () => [textAt(2, 'so '), textAt(3, 'far')])
    expect((await read())?.[1]).toMatchObject({ content: 'so far', status: 'streaming' })
    const newest = (agentId: string) => sessions.newestReply(scene.sql, agentId, session)
    expect(await newest(scene.agentId)).toEqual({ found: true, replyId: reply.id, runs: true })
    await scene.journal.settle(reply, failed())
    expect((await read())?.[1]).toMatchObject({ content: 'so far', status: 'error', finishReason: 'error' })
    const other = await newAgent(scene.sql)
    expect(await listMessages(scene.sql, other, session)).toBeNull()
    expect(await sessions.findSession(scene.sql, other, session)).toBeNull()
    expect(await newest(other)).toEqual({ found: false, replyId: null, runs: false })
    expect(await newest(scene.agentId)).toEqual({ found: true, replyId: reply.id, runs: false })
  })

  verifies('contract-4.title', 'a title is set once: it replaces neither a caller’s nor an earlier one', async () => {
    const session = await scene.newSession()
    const titleOf = async () => (await sessions.findSession(scene.sql, scene.agentId, session))?.title
    await scene.journal.settle(await scene.begin(session), finished({ title: 'First' }))
    expect(await titleOf()).toBe('First')
    await scene.journal.settle(await scene.begin(session), finished({ title: 'Second' }))
    expect(await titleOf()).toBe('First')
  })

  verifies('contract-4.cancel', 'a cancel is written for the owner of the running reply, and only then', async () => {
    const session = await scene.newSession()
    expect(await scene.journal.requestCancel(session, {})).toBeNull()
    const reply = await scene.begin(session)
    expect(await scene.journal.requestCancel(session, { only: randomUUID() })).toBeNull()
    expect(await scene.journal.requestCancel(session, { but: reply.id })).toBeNull()
    expect(await scene.journal.requestCancel(session, {})).toEqual({
      replyId: reply.id,
      instanceId: scene.instance.id,
    })
    // One of the owner's next flushes reports the intent.
    const before = scene.asked()
    for (let seq = 2; scene.asked() === before; seq++) await scene.journal.append(reply, () => [textAt(seq, 'x')])
    expect(scene.asked()).toBe(before + 1)
    const intents = await scene.sql`select kind, instance_id, reply_id from intents where session_id = ${session}`
    expect([...intents]).toEqual([{ kind: 'cancel', instance_id: scene.instance.id, reply_id: reply.id }])
    await scene.sql`delete from intents`
    await scene.journal.settle(reply, finished())
    expect(await scene.journal.requestCancel(session, {})).toBeNull()
    expect(await rowsOf('intents', session)).toBe(0)
  })

  verifies(
    ['contract-4.delete', 'spec-4.12.delete'],
    'a deleted session leaves nothing but an intent for its owner',
    async () => {
      const session = await scene.newSession()
      const idempotency = { key: 'k', bodyHash: Buffer.from('x') }
      await scene.journal.settle(await scene.begin(session, { idempotency }), finished())
      const running = await scene.begin(session)
      const other = await scene.begin(await scene.newSession())
      const said = [textAt(running.firstSeq + 1, 'x'), textAt(running.firstSeq + 2, 'y')]
      await scene.journal.append(other, () => [textAt(2, 'kept')])
      // While one is under way, what comes goes along with the next.
      await Promise.all([
        scene.journal.append(running, () => said.slice(0, 1)),
        scene.journal.append(other, () => [textAt(3, 'kept')]),
      ])
      await scene.journal.append(running, () => said.slice(1))
      const step = { sessionId: session, at: new Date(), from: 'idle', to: 'streaming.generating', event: 'message' }
      await transitions.recordTransitions(scene.sql, scene.instance.id, [
        { ...step, messageId: running.id, detail: {} },
      ])
      expect(await sessions.deleteSession(scene.sql, await newAgent(scene.sql), session)).toBeNull()
      expect(await rowsOf('messages', session)).toBe(4)
      expect(await sessions.deleteSession(scene.sql, scene.agentId, session)).toEqual({ owners: [scene.instance.id] })
      expect(await sessions.deleteSession(scene.sql, scene.agentId, session)).toBeNull()
      expect(await rowsOf('messages', session)).toBe(0)
      expect(await rowsOf('idempotency_keys', session)).toBe(0)
      expect(await rowsOf('step_runs', session)).toBe(0)
      expect(await framesOf(running.sessionNum)).toBe(0)
      expect((await scene.journal.read(other.id, 0))?.events).toHaveLength(2)
      const intents = await scene.sql`select kind, instance_id, reply_id from intents where session_id = ${session}`
      expect([...intents]).toEqual([{ kind: 'delete', instance_id: scene.instance.id, reply_id: running.id }])
    },
  )

  verifies(
    'contract-2.agent-delete',
    'deleting an agent deletes its sessions and leaves intents for their owners',
    async () => {
      const agentId = await newAgent(scene.sql)
      const idle = await newSession(agentId)
      const busy = await newSession(agentId)
      const reply = await scene.begin(busy, { agentId })
      expect(await sessions.deleteAgent(scene.sql, agentId.toUpperCase())).toEqual({
        id: agentId,
        instances: [scene.instance.id],
      })
      expect(await sessions.deleteAgent(scene.sql, agentId)).toBeNull()
      expect(await scene.sql`select 1 from sessions where id in ${scene.sql([idle, busy])}`).toHaveLength(0)
      expect(await scene.journal.read(reply.id, 0)).toBeNull()
      expect(await rowsOf('intents', busy)).toBe(1)
      expect(await rowsOf('intents', idle)).toBe(0)
    },
  )

  verifies(
    'contract-2.agent-delete',
    'sessions go a batch at a time, and those made meanwhile are waited for by nobody',
    async () => {
      const agentId = await newAgent(scene.sql)
      const makeMany = () =>
        scene.sql`insert into sessions (agent_id) select ${agentId}::uuid from generate_series(1, 600)`
      await makeMany()
      const batches: number[] = []
      for await (const { ids, owners } of sessions.deleteSessionsOf(scene.sql, agentId, null)) {
        expect(owners).toEqual([])
        if (batches.push(ids.length) > 2) break
        await makeMany()
      }
      expect(batches).toEqual([500, 100])
    },
  )

  verifies(
    'contract-8.transitions',
    'transitions are read in order; those of deleted sessions are left out',
    async () => {
      const session = await scene.newSession()
      const step = (sessionId: string, to: string) => ({
        sessionId,
        at: new Date(),
        from: 'idle',
        to,
        event: 'message',
        messageId: null,
        detail: { n: 1 },
      })
      const batch = [step(session, 'a'), step(unknown, 'lost'), step(session, 'b'), step(session, 'a')]
      await transitions.recordTransitions(scene.sql, scene.instance.id, batch)
      const list = await transitions.listTransitions(scene.sql, session, { limit: 2, offset: 1 })
      expect(list?.total).toBe(3)
      expect(list?.items.map(({ to }) => to)).toEqual(['b', 'a'])
      const [first] = (await transitions.transitionsAfter(scene.sql, session, 0)) ?? []
      expect(first).toMatchObject({ to: 'a', instanceId: scene.instance.id, detail: { n: 1 } })
      const after = await transitions.transitionsAfter(scene.sql, session, first?.seq ?? 0)
      expect(after?.map(({ to }) => to)).toEqual(['b', 'a'])
      expect(await transitions.transitionsAfter(scene.sql, session, list?.items.at(-1)?.seq ?? 0)).toEqual([])
      expect(await transitions.transitionsAfter(scene.sql, unknown, 0)).toBeNull()
      expect(await transitions.listTransitions(scene.sql, unknown, page)).toBeNull()
    },
  )

  verifies('contract-1.retention', 'idle sessions are deleted, running and recent ones are kept', async () => {
    const [idle, recent, running] = [await scene.newSession(), await scene.newSession(), await scene.newSession()]
    await scene.begin(running)
    await age(idle, 8)
    await age(recent, 6)
    await age(running, 8)
    const kept = async () => {
      const rows = await scene.sql<{ id: string }[]>`
        select id from sessions where id in ${scene.sql([idle, recent, running])}`
      return rows.map(({ id }) => id).sort()
    }
    await tidyReplies(scene.sql, null)
    expect(await kept()).toEqual([idle, recent, running].sort())
    await tidyReplies(scene.sql, 7)
    expect(await kept()).toEqual([recent, running].sort())
  })

  verifies('contract-1.retention', 'a message that arrives meanwhile keeps its session', async () => {
    const session = await scene.newSession()
    await age(session, 8)
    await scene.sql.begin(async (tx) => {
      await tx`update sessions set updated_at = clock_timestamp() where id = ${session}`
      // Not yet committed: the tidy statement sees an idle session.
      await tidyReplies(scene.sql, 7)
    })
    expect(await sessions.findSession(scene.sql, scene.agentId, session)).not.toBeNull()
  })

  test('design section 3: frames without a session are deleted, all others kept', async () => {
    const gone = await scene.begin(await scene.newSession())
    const alive = await scene.begin(await scene.newSession())
    await sessions.deleteSession(scene.sql, scene.agentId, gone.sessionId)
    for (const { sessionNum: session_num } of [gone, alive]) {
      await storeFrame(scene.sql, { session_num, seq: 2, part: 0, text: 'x' })
    }
    await tidyReplies(scene.sql, null)
    expect(await framesOf(gone.sessionNum)).toBe(0)
    expect(await framesOf(alive.sessionNum)).toBe(1)
  })
})
