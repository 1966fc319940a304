/** Admissions and settlements of many replies in one statement: each as it would have been alone (design section 3). */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { Admission, NewMessage, ReplyInfo, Settlement } from '../../src/actors/ports.ts'
import type { StoredEvent } from '../../src/actors/reply-event.ts'
import { verifies } from '../verifies.ts'
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
} from './scene.ts'

const nul = String.fromCharCode(0)
const named = (name: string, extra = {}) => ({ id: name, name: 'look', arguments: '{}', ...extra })
const usage = { promptTokens: 3, completionTokens: 4, estimated: false }

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const sessions = (count: number) => Promise.all(Array.from({ length: count }, () => scene.newSession()))

  /** In one statement: they gather while another one is under way. */
  async function admitTogether(messages: readonly NewMessage[]): Promise<PromiseSettledResult<Admission>[]> {
    const first = scene.journal.admit(scene.message(await scene.newSession()))
    const others = Promise.allSettled(messages.map((message) => scene.journal.admit(message)))
    await first
    return await others
  }

  async function settleTogether(settlements: readonly [ReplyInfo, Settlement][]) {
    const reply = await scene.begin(await scene.newSession())
    const first = scene.journal.settle(reply, finished({ events: [] }))
    const others = Promise.allSettled(settlements.map((one) => scene.journal.settle(...one)))
    await first
    return await others
  }

  const outcomes = (answers: readonly PromiseSettledResult<Admission>[]) =>
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.outcome : answer.reason.code))
  const results = (answers: Awaited<ReturnType<typeof settleTogether>>) =>
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.result : answer.reason.code))

  /** How many transactions wrote the newest version of these messages. */
  async function transactions(ids: readonly string[]): Promise<number> {
    const rows = await scene.sql`select distinct xmin::text from messages where id = any(${ids}::uuid[])`
    return rows.length
  }

  /** Holds the session's row while `work` runs. */
  const locked = <T>(sessionId: string, work: () => Promise<T>): Promise<T> =>
    scene.sql.begin(async (tx) => {
      await tx`select 1 from sessions where id = ${sessionId} for update`
      return await work()
    }) as Promise<T>

  // ── admission ─────────────────────────────────────────────────────────────────────────────────────────

  verifies('spec-4.12.stateful', 'messages that come at once are admitted in one transaction', async () => {
    const messages = (await sessions(8)).map((id, n) => scene.message(id, { text: `Hello ${n}` }))
    const answers = await admitTogether(messages)
    expect(outcomes(answers)).toEqual(messages.map(() => 'admitted'))
    expect(await transactions(messages.map(({ replyId }) => replyId))).toBe(1)
    const texts = await scene.sql<{ content: string }[]>`
      select content from messages where session_id = any(${messages.map(({ sessionId }) => sessionId)}::uuid[])
         and role = 'user' order by content`
    expect(texts.map(({ content }) => content)).toEqual(messages.map(({ text }) => text))
  })

  verifies('contract-4.stored-before-shown', 'a message that cannot be stored refuses no other', async () => {
    const [a, bad, b] = await sessions(3)
    if (!a || !bad || !b) throw new Error('no sessions')
    const answers = await admitTogether([scene.message(a), scene.message(bad, { text: `a${nul}b` }), scene.message(b)])
    expect(outcomes(answers)).toEqual(['admitted', expect.stringMatching(/^22/), 'admitted'])
    expect(await scene.sql`select 1 from messages where session_id = ${bad}`).toHaveLength(0)
  })

  verifies(
    'contract-4.stored-before-shown',
    'a session that is locked elsewhere holds no other message back',
    async () => {
      const [a, held, b] = await sessions(3)
      if (!a || !held || !b) throw new Error('no sessions')
      const messages = [scene.message(a), scene.message(held), scene.message(b)]
      const { answers } = await locked(held, async () => {
        const all = Promise.all(messages.map((message) => scene.journal.admit(message)))
        await expect.poll(scene.waiting).toBeGreaterThan(0)
        const stored = () =>
          scene.sql`select 1 from messages where id in (${messages[0]?.replyId ?? ''}, ${messages[2]?.replyId ?? ''})`
        await expect.poll(async () => (await stored()).length).toBe(2)
        return { answers: all }
      })
      expect((await answers).map(({ outcome }) => outcome)).toEqual(['admitted', 'admitted', 'admitted'])
    },
  )

  verifies('contract-4.busy', 'of two to one session the first is admitted, and the second finds it busy', async () => {
    const [session, other] = await sessions(2)
    if (!session || !other) throw new Error('no sessions')
    const messages = [session, other, session].map((id, n) => scene.message(id, { text: `${n}` }))
    expect(outcomes(await admitTogether(messages))).toEqual(['admitted', 'admitted', 'busy'])
    const rows = await scene.sql`select content from messages where session_id = ${session} and role = 'user'`
    expect([...rows]).toEqual([{ content: '0' }])
  })

  verifies('contract-4.fencing', 'once this instance is declared lost none of them is stored', async () => {
    const { instance, journal } = await scene.another()
    const ids = await sessions(4)
    await scene.sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
    const answers = await Promise.all(ids.map((id) => journal.admit(scene.message(id))))
    expect(answers.map(({ outcome }) => outcome)).toEqual(ids.map(() => 'fenced'))
    expect(await scene.sql`select 1 from messages where session_id = any(${ids}::uuid[])`).toHaveLength(0)
  })

  verifies('contract-4.idempotency', 'each is refused, joined or admitted as it is alone', async () => {
    const key = (body = 'a') => ({ key: 'k', bodyHash: Buffer.from(body) })
    const [keyed, reused, unknown, stale, retried] = await sessions(5)
    if (!keyed || !reused || !unknown || !stale || !retried) throw new Error('no sessions')
    for (const id of [keyed, reused]) await scene.begin(id, { idempotency: key() })
    const again = scene.message(retried)
    await scene.journal.admit(again)
    const answers = await admitTogether([
      scene.message(keyed, { idempotency: key() }),
      scene.message(reused, { idempotency: key('b') }),
      scene.message(unknown, { place: { parent: crypto.randomUUID() } }),
      scene.message(stale, { configuration: 1_000_000 }),
      scene.message(crypto.randomUUID()),
      scene.message(await scene.newSession(), { user: 'somebody' }),
      again,
      scene.message(await scene.newSession(), { idempotency: key() }),
    ])
    const expected = [
      'joined',
      'key_reused',
      'unknown_parent',
      'stale',
      'not_found',
      'not_found',
      'admitted',
      'admitted',
    ]
    expect(outcomes(answers)).toEqual(expected)
    const rows = await scene.sql`select 1 from messages where id = ${again.replyId}`
    expect(rows).toHaveLength(1)
  })

  /** Everything that an admission stores, but ids and times. */
  const storedOf = (sessionId: string) => scene.sql`
    select m.position, m.role, m.status, m.content, m.session_num = s.num as is_numbered, m.model, m.first_seq, m.include_usage,
           m.instance_id = ${scene.instance.id} as is_ours, m.epoch, m.parent, m.line, m.asked_place ->> 'parent' is not null as asks,
           m.asked_place ? 'regenerate' as asks_again, m.facts, s.status as session_status, s.error_code, s.head,
           (select jsonb_agg(to_jsonb(k) - 'session_id' - 'reply_id' - 'created_at') from idempotency_keys k where k.session_id = s.id) as keys,
           (select jsonb_agg(jsonb_build_array(w.open, w.decision, w.decided_by, w.reason)) from waiting_calls w where w.session_id = s.id) as waited,
           (select count(*)::integer from waits w where w.session_id = s.id) as waits,
           (select jsonb_agg(to_jsonb(p) - 'session_id' - 'message_id' order by p.n) from message_parts p where p.message_id = m.id) as parts
      from sessions s join messages m on m.session_id = s.id where s.id = ${sessionId} order by m.position`

  const waits: Settlement = finished({
    outcome: { type: 'finished', reason: 'tool_calls', usage, calls: [named('c')] },
    events: [],
    waiting: {
      calls: [{ ...named('c'), kind: 'caller', replyId: '', place: 1 }],
      carried: { tools: [], fields: {}, overrides: null, firstId: '', chain: chainOf() },
    },
  })

  verifies('contract-14.one-stream', 'each stores what it stores alone', async () => {
    const sha256 = 'ab'.repeat(32)
    await scene.sql`insert into part_contents (sha256, size) values (decode(${sha256}, 'hex'), 3) on conflict do nothing`
    const part = {
      type: 'file',
      sha256,
      mediaType: 'text/plain',
      filename: 'a.txt',
      size: 3,
      detail: null,
      sourceUrl: null,
    } as const
    const file = {
      ...part,
      place: 2,
      read: () => {
        throw new Error('not read')
      },
    }
    const facts = { providerId: crypto.randomUUID(), prompt: null, overrides: { temperature: 1 } }
    /** What was said before, and the message. */
    const kinds: [Settlement[], (last: ReplyInfo | undefined, first: ReplyInfo | undefined) => Partial<NewMessage>][] =
      [
        [[], () => ({})],
        [[finished({ events: [textAt(2, 'x')], title: 'Title' })], () => ({ includeUsage: true, facts })],
        [[failed({ events: [] })], () => ({ idempotency: { key: 'k', bodyHash: Buffer.from('h') } })],
        [[finished(), finished()], () => ({ place: { regenerate: null } })],
        [[finished(), finished()], (_, first) => ({ place: { regenerate: first?.id ?? null } })],
        [[finished(), finished()], (_, first) => ({ place: { parent: first?.id ?? null } })],
        [[finished()], () => ({ place: { parent: null } })],
        [[finished()], (last) => ({ place: { parent: last?.id ?? null }, parts: [file] })],
        [[waits], () => ({ by: 'ann' })],
      ]
    const prepare = async ([before, make]: (typeof kinds)[number]) => {
      const session = await scene.newSession()
      const replies: ReplyInfo[] = []
      for (const one of before) {
        const reply = await scene.begin(session)
        replies.push(reply)
        await scene.journal.settle(reply, one)
      }
      return scene.message(session, make(replies.at(-1), replies[0]))
    }
    const single = await Promise.all(kinds.map(prepare))
    const grouped = await Promise.all(kinds.map(prepare))
    const alone: Admission[] = []
    for (const message of single) alone.push(await scene.journal.admit(message))
    const answers = await admitTogether(grouped)
    expect(await transactions(grouped.map(({ replyId }) => replyId))).toBe(1)
    for (const [n, message] of grouped.entries()) {
      const answer = answers[n]
      expect(answer?.status === 'fulfilled' && shapeOf(answer.value)).toEqual(shapeOf(alone[n]))
      expect([...(await storedOf(message.sessionId))]).toEqual([...(await storedOf(single[n]?.sessionId ?? ''))])
    }
  })

  // ── settlement ────────────────────────────────────────────────────────────────────────────────────────

  const begun = async (count: number) => {
    const replies: ReplyInfo[] = []
    for (const id of await sessions(count)) replies.push(await scene.begin(id))
    return replies
  }

  const storedEnd = async (reply: ReplyInfo) => {
    const [row] = await scene.sql`
      select to_jsonb(m) - 'id' - 'session_id' - 'session_num' - 'created_at' - 'settled_at' as message, s.next_seq, s.title,
             s.status, s.error_code, to_jsonb(u) - 'id' as used,
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
    const changed: StoredEvent = {
      seq: 1,
      part: 1,
      event: { type: 'model', model: 'other', providerId: crypto.randomUUID() },
    }
    const all: Settlement[] = [
      finished({ endedAt, events: [], title: 'Title' }),
      finished({ endedAt, events, figures, reasoningMs: 7, requesterLost: true }),
      finished({ endedAt, events: [changed, textAt(2, 'x')] }),
      failed({ endedAt, events: [textAt(2, 'half')] }),
      finished({ endedAt, events: [textAt(2, 'x')], outcome: { type: 'finished', reason: 'cancelled', usage } }),
      { ...waits, endedAt },
    ]
    const [single, grouped] = [await begun(all.length), await begun(all.length)]
    for (const [n, one] of all.entries()) {
      const reply = single[n]
      if (reply) await scene.journal.settle(reply, one)
    }
    const answers = await settleTogether(grouped.map((reply, n) => [reply, all[n] ?? finished()]))
    expect(results(answers)).toEqual(all.map(() => 'settled'))
    expect(await transactions(grouped.map(({ id }) => id))).toBe(1)
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
      await scene.sql`select delete_session(${scene.agentId}, ${gone.sessionId})`
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
      const answers = await locked(held.sessionId, async () => {
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

function chainOf() {
  const answer = { role: 'assistant' as const, content: '', toolCalls: [named('c')] }
  return { said: [], turn: { answer, results: [null], waiting: [null] }, spent: 1 }
}

/** What an admission says, but ids and times. */
const shapeOf = (admission: Admission | undefined) =>
  admission?.outcome === 'admitted'
    ? {
        ...admission,
        parentId: admission.parentId === null,
        reply: { ...admission.reply, id: '', sessionId: '', sessionNum: 0, createdAt: '' },
      }
    : admission
