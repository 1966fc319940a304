/** A problem in one session never affects another (design section 3): unstorable data, deleted rows. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ReplyInfo } from '../../../../src/actors/ports/index.ts'
import type { StoredEvent } from '../../../../src/actors/reply/reply-event.ts'
import { deleteAgent, deleteSession } from '../../../../src/features/sessions/store/sessions.ts'
import { recordTransitions } from '../../../../src/features/traces/store/transitions.ts'
import { codeOf } from '../../../../src/persistence/postgres/database.ts'
import { verifies } from '../../../verifies.ts'
import { finished, newAgent, openScene, type Scene, textAt, toolResultAt, versions } from '../../scene.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const replies = async (count: number): Promise<ReplyInfo[]> => {
    const all: ReplyInfo[] = []
    for (let i = 0; i < count; i++) all.push(await scene.begin(await scene.newSession()))
    return all
  }

  /** Stores all of these in one flush: they are queued within one turn of the event loop. */
  const flush = (batch: { reply: ReplyInfo; events: StoredEvent[] }[]) =>
    Promise.all(batch.map(({ reply, events }) => scene.journal.append(reply, () => events)))

  const nul = String.fromCharCode(0)
  const bad: [string, (reply: ReplyInfo) => { reply: ReplyInfo; events: StoredEvent[] }][] = [
    ['a NUL byte in a text', (reply) => ({ reply, events: [textAt(2, `a${nul}b`)] })],
    ['a NUL byte in a tool result', (reply) => ({ reply, events: [toolResultAt(2, 1, 'c', `a${nul}b`)] })],
    ['half a surrogate pair in a tool result', (reply) => ({ reply, events: [toolResultAt(2, 1, 'c', 'a\ud800b')] })],
    ['a part beyond smallint', (reply) => ({ reply, events: [toolResultAt(2, 40_000, 'c')] })],
    ['a number beyond bigint', (reply) => ({ reply, events: [textAt(2 ** 70, 'x')] })],
    ['a number that is none', (reply) => ({ reply: { ...reply, sessionNum: Number.NaN }, events: [textAt(2, 'x')] })],
  ]
  for (const [what, make] of bad) {
    verifies('contract-4.stored-before-shown', `${what} ends its own reply only`, async () => {
      const [before, guilty, after] = await replies(3)
      if (!before || !guilty || !after) throw new Error('no replies')
      const verdicts = await flush([
        { reply: before, events: [textAt(2, 'kept')] },
        make(guilty),
        { reply: after, events: [textAt(2, 'kept too')] },
      ])
      expect(verdicts).toEqual(['stored', 'refused', 'stored'])
      expect((await scene.journal.read(before.id, 0))?.events).toEqual([textAt(2, 'kept')])
      expect((await scene.journal.read(after.id, 0))?.events).toEqual([textAt(2, 'kept too')])
      expect((await scene.journal.read(guilty.id, 0))?.events).toEqual([])
      // It can still be settled, and its session takes the next message.
      expect(await scene.journal.settle(guilty, finished())).toMatchObject({ result: 'settled' })
      await scene.begin(guilty.sessionId)
    })
  }

  verifies(
    'contract-4.stored-before-shown',
    'a session deleted meanwhile and a duplicate row lose no other frame',
    async () => {
      const [gone, twice, other] = await replies(3)
      if (!gone || !twice || !other) throw new Error('no replies')
      await scene.journal.append(twice, () => [textAt(2, 'first')])
      await deleteSession(scene.sql, scene.agentId, gone.sessionId)
      const verdicts = await flush([
        { reply: gone, events: [textAt(2, 'nobody reads this')] },
        { reply: twice, events: [textAt(2, 'first'), textAt(3, ' second')] },
        { reply: other, events: [textAt(2, 'other')] },
      ])
      expect(verdicts).toEqual(['stored', 'stored', 'stored'])
      expect((await scene.journal.read(twice.id, 0))?.events).toEqual([textAt(2, 'first'), textAt(3, ' second')])
      expect((await scene.journal.read(other.id, 0))?.events).toEqual([textAt(2, 'other')])
      expect(await scene.journal.read(gone.id, 0)).toBeNull()
    },
  )

  verifies('contract-4.stored-before-shown', 'a large frame is stored whole', async () => {
    const [reply] = await replies(1)
    if (!reply) throw new Error('no reply')
    const text = '€'.repeat(3 << 20)
    expect(await scene.journal.append(reply, () => [textAt(2, text)])).toBe('stored')
    await scene.journal.settle(reply, finished())
    const [event] = (await scene.journal.read(reply.id, 0))?.events ?? []
    expect(event?.event.type === 'text' && event.event.text === text).toBe(true)
  })

  verifies(
    'contract-2.agent-delete',
    'deleting agents and sessions during flushes causes no deadlock and no loss',
    async () => {
      const rounds = 200
      const stable = await replies(4)
      const doomed = async () => {
        const agentId = await newAgent(scene.sql)
        const rows = await scene.sql<{ id: string }[]>`
        insert into sessions (agent_id) select ${agentId}::uuid from generate_series(1, 3) returning id`
        const own: ReplyInfo[] = []
        for (const { id } of rows) own.push(await scene.begin(id, { agentId }))
        return { agentId, own }
      }
      let next = await doomed()
      const failures: unknown[] = []
      const noted = (work: Promise<unknown>) => work.catch((error: unknown) => failures.push(codeOf(error) ?? error))
      for (let round = 0; round < rounds; round++) {
        const { agentId, own } = next
        const seq = round + 2
        const steps = [...own].reverse().map(({ sessionId, id }) => ({
          sessionId,
          at: new Date(),
          from: 'idle',
          to: 'streaming.generating',
          event: 'message',
          messageId: id,
          detail: {},
        }))
        const [settling, single, ...rest] = own
        const work = [
          flush([...stable, ...own].map((reply) => ({ reply, events: [textAt(seq, `${round} `)] }))),
          noted(recordTransitions(scene.sql, scene.instance.id, steps)),
          noted(deleteAgent(scene.sql, agentId)),
          ...(single ? [noted(deleteSession(scene.sql, agentId, single.sessionId))] : []),
          ...(settling ? [noted(scene.journal.settle(settling, finished()))] : []),
          flush(rest.map((reply) => ({ reply, events: [textAt(seq + 1, 'late ')] }))),
        ]
        const [verdicts] = await Promise.all(work)
        if (!Array.isArray(verdicts) || verdicts.some((verdict) => verdict !== 'stored')) failures.push(verdicts)
        if (round + 1 < rounds) next = await doomed()
      }
      expect(failures).toEqual([])
      const whole = Array.from({ length: rounds }, (_, round) => `${round} `).join('')
      for (const reply of stable) {
        const events = (await scene.journal.read(reply.id, 0))?.events ?? []
        expect(events.map(({ event }) => (event.type === 'text' ? event.text : '')).join('')).toBe(whole)
      }
    },
  )
})
