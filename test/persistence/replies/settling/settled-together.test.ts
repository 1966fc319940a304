/** Settlements of many replies in one statement: each as it would have been alone (design section 3). */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ReplyInfo, Settlement } from '../../../../src/actors/ports/index.ts'
import type { StoredEvent } from '../../../../src/actors/reply/reply-event.ts'
import { verifies } from '../../../verifies.ts'
import {
  failed,
  finished,
  openScene,
  reasoningAt,
  type Scene,
  textAt,
  toolCallAt,
  toolResultAt,
  versions,
} from '../../scene.ts'
import { locked, transactions, usage, waits } from '../together-scene.ts'

const nul = String.fromCharCode(0)

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const sessions = (count: number) => Promise.all(Array.from({ length: count }, () => scene.newSession()))

  /** In one statement: they gather while another one is under way. */
  async function settleTogether(settlements: readonly [ReplyInfo, Settlement][]) {
    const reply = await scene.begin(await scene.newSession())
    const first = scene.journal.settle(reply, finished({ events: [] }))
    const others = Promise.allSettled(settlements.map((one) => scene.journal.settle(...one)))
    await first
    return await others
  }

  const results = (answers: Awaited<ReturnType<typeof settleTogether>>) =>
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.result : answer.reason.code))

  const begun = async (count: number) => {
    const replies: ReplyInfo[] = []
    for (const id of await sessions(count)) replies.push(await scene.begin(id, { includeUsage: true }))
    return replies
  }

  const storedEnd = async (reply: ReplyInfo) => {
    const [row] = await scene.sql`
      select to_jsonb(m) - 'id' - 'session_id' - 'session_num' - 'created_at' - 'settled_at' as message, s.next_seq, s.title,
             s.bytes, (select count(*)::integer from reply_turns t where t.reply_id = m.id) as turns, s.status, s.error_code, to_jsonb(u) - 'id' as used,
             (select jsonb_agg(to_jsonb(w) - 'reply_id' - 'session_id' - 'asked_at') from waiting_calls w
               where w.session_id = s.id) as waited,
             (select w.carried from waits w where w.session_id = s.id) as carried
        from messages m join sessions s on s.id = m.session_id left join token_usage u on u.id = m.id where m.id = ${reply.id}`
    return row
  }

  verifies('contract-4.resume', 'each is settled in one transaction as it is alone', async () => {
    const endedAt = new Date('2026-01-01T00:00:00.000Z')
    const events: StoredEvent[] = [
      textAt(2, 'aé'),
      reasoningAt(3, '€"\\'),
      toolCallAt(3, 1, 'a'),
      toolResultAt(3, 2, 'a'),
      textAt(4, '😀'),
    ]
    const figures = { firstTokenMs: 3, durationMs: 9, attempts: 2 }
    const changed = ['other', 'last'].map(
      (model, n): StoredEvent => ({
        ...{ seq: 1, part: n + 1 },
        event: { type: 'model', model, providerId: crypto.randomUUID() },
      }),
    )
    const all: Settlement[] = [
      finished({ endedAt, events: [], title: 'Title' }),
      finished({ endedAt, events, figures, reasoningMs: 7, requesterLost: true }),
      finished({ endedAt, events: [...changed, textAt(2, 'x')] }),
      failed({ endedAt, events: [textAt(2, 'half')] }),
      finished({ endedAt, events: [textAt(2, 'x')], outcome: { type: 'finished', reason: 'cancelled', usage } }),
      { ...waits, endedAt },
    ]
    const [single, grouped] = [await begun(all.length), await begun(all.length)]
    // What is kept while they run: for an instance that goes on, and a call that still waits.
    const ids = [single, grouped].map((replies) => replies.map(({ id }) => id))
    await scene.sql`
      update messages set facts = '{"start": {}, "values": {}, "handedOver": 1}' where id = any(${ids.flat()}::uuid[])`
    for (const [waits, , , kept] of ids) {
      await scene.sql`insert into reply_turns (reply_id, n, body) values (${kept ?? ''}, 0, '{}')`
      await scene.sql`
        insert into waiting_calls (reply_id, place, session_id, call_id, name, arguments, kind)
        select id, 1, session_id, 'c', 'pay', '{}', 'caller' from messages where id = ${waits ?? ''}`
    }
    for (const [n, one] of all.entries()) {
      const reply = single[n]
      if (reply) await scene.journal.settle(reply, one)
    }
    const answers = await settleTogether(grouped.map((reply, n) => [reply, all[n] ?? finished()]))
    expect(results(answers)).toEqual(all.map(() => 'settled'))
    expect(
      await transactions(
        scene,
        grouped.map(({ id }) => id),
      ),
    ).toBe(1)
    for (const [n, reply] of grouped.entries()) {
      const alone = single[n]
      expect(await storedEnd(reply)).toEqual(alone && (await storedEnd(alone)))
    }
  })

  verifies(
    'contract-4.resume',
    'settling twice keeps the first outcome, and that of a deleted session is gone',
    async () => {
      const [twice, gone, other] = await begun(3)
      if (!twice || !gone || !other) throw new Error('no replies')
      const first = await scene.journal.settle(twice, finished({ events: [textAt(2, 'x')] }))
      await scene.sql`select delete_sessions(${scene.agentId}, array[${gone.sessionId}::uuid])`
      const answers = await settleTogether([twice, gone, other].map((reply) => [reply, failed({ events: [] })]))
      expect(answers.map((answer) => answer.status === 'fulfilled' && answer.value)).toMatchObject([
        first,
        { result: 'gone' },
        { result: 'settled' },
      ])
      expect((await scene.journal.read(twice.id, 0))?.events).toEqual([textAt(2, 'x')])
    },
  )

  verifies('contract-4.stored-before-shown', 'a settlement that cannot be stored takes no other with it', async () => {
    const replies = await begun(3)
    const settlements = replies.map((reply, n): [ReplyInfo, Settlement] => [
      reply,
      finished({ events: [textAt(2, n === 1 ? `a${nul}b` : 'kept')] }),
    ])
    expect(results(await settleTogether(settlements))).toEqual(['settled', expect.stringMatching(/^22/), 'settled'])
    const rows =
      await scene.sql`select status from messages where id = any(${replies.map(({ id }) => id)}::uuid[]) order by id`
    expect(rows.map(({ status }) => status).sort()).toEqual(['complete', 'complete', 'streaming'])
  })

  verifies(
    'contract-4.stored-before-shown',
    'a session that is locked elsewhere holds no other settlement back',
    async () => {
      const replies = await begun(3)
      const [a, held, b] = replies
      if (!a || !held || !b) throw new Error('no replies')
      const answers = await locked(scene, held.sessionId, async () => {
        const all = settleTogether(replies.map((reply) => [reply, finished({ events: [] })]))
        await expect.poll(scene.waiting).toBeGreaterThan(0)
        await expect
          .poll(() => Promise.all([a, b].map(async ({ id }) => (await scene.journal.read(id, 0))?.outcome?.type)))
          .toEqual(['finished', 'finished'])
        return { all }
      })
      expect(results(await answers.all)).toEqual(['settled', 'settled', 'settled'])
    },
  )

  verifies('contract-21.owner', 'one that another instance has taken over is left to that one', async () => {
    const [taken, own] = await begun(2)
    if (!taken || !own) throw new Error('no replies')
    const { instance } = await scene.another()
    await scene.sql`update messages set instance_id = ${instance.id}, epoch = ${instance.epoch()} where id = ${taken.id}`
    const answers = await settleTogether([taken, own].map((reply) => [reply, finished({ events: [] })]))
    expect(results(answers)).toEqual(['fenced', 'settled'])
    expect(await scene.sql`select status from messages where id = ${taken.id}`).toEqual([{ status: 'streaming' }])
  })

  verifies('contract-4.fencing', 'once this instance is declared lost none of its replies is settled', async () => {
    const { instance, journal } = await scene.another()
    const replies: ReplyInfo[] = []
    for (const id of await sessions(3)) {
      const admission = await journal.admit(scene.message(id))
      if (admission.outcome === 'admitted') replies.push(admission.reply)
    }
    await scene.sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
    const answers = await Promise.all(replies.map((reply) => journal.settle(reply, finished({ events: [] }))))
    expect(answers).toEqual(replies.map(() => ({ result: 'fenced' })))
  })
})
