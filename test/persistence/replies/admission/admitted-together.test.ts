/** Admissions of many messages in one statement; admission-twins.test.ts compares what it stores (design section 3). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { Admission, NewMessage } from '../../../../src/actors/ports/index.ts'
import { contributions } from '../../../../src/compose/contributions.ts'
import { connect } from '../../../../src/persistence/postgres/database.ts'
import { createAdmissions } from '../../../../src/persistence/replies/admission/admission.ts'
import { openProxy } from '../../../faults/database/database-proxy.ts'
import { queuedInput } from '../../../features/queue/store/queued-scene.ts'
import { verifies } from '../../../verifies.ts'
import { openScene, type Scene, versions, type Wanted } from '../../scene.ts'
import { locked, transactions, waits } from '../together-scene.ts'

const nul = String.fromCharCode(0)

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

  const outcomes = (answers: readonly PromiseSettledResult<Admission>[]) =>
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.outcome : answer.reason.code))

  verifies('spec-4.12.stateful', 'messages that come at once are admitted in one transaction', async () => {
    const messages = (await sessions(8)).map((id, n) => scene.message(id, { text: `Hello ${n}` }))
    const answers = await admitTogether(messages)
    expect(outcomes(answers)).toEqual(messages.map(() => 'admitted'))
    expect(
      await transactions(
        scene,
        messages.map(({ replyId }) => replyId),
      ),
    ).toBe(1)
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
      const { answers } = await locked(scene, held, async () => {
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

  for (const fate of ['cut answer', 'drop'] as const) {
    verifies('contract-10.unknown-admission', `a statement that broke (${fate}) stores each message once`, async () => {
      await using proxy = await openProxy(scene.database.url)
      const sql = connect(proxy.url, { max: 4, name: 'admissions', timeoutMs: 100 })
      const admit = createAdmissions({
        sql,
        instance: scene.instance,
        contributions: contributions.admission,
        log: { warn() {} },
      })
      const run = crypto.randomUUID()
      const messages = (await sessions(4)).map((id) => scene.message(id, { text: run }))
      let broken = 0
      proxy.judge((bytes) => {
        if (bytes.toString('latin1').split(run).length <= 2 || broken++ > 0) return 'pass' // alone
        return fate
      })
      const answers = await Promise.all(messages.map((message) => admit(message)))
      await sql.end({ timeout: 0 })
      expect(answers.map(({ outcome }) => outcome)).toEqual(messages.map(() => 'admitted'))
      expect(broken).toBe(1)
      expect(await scene.sql`select 1 from messages where content = ${run}`).toHaveLength(messages.length)
    })
  }

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

  verifies('contract-22.waiting', 'what is enqueued waits with its session, also among others', async () => {
    const [session, other] = await sessions(2)
    if (!session || !other) throw new Error('no sessions')
    await scene.journal.settle(await scene.begin(session), waits)
    const later = scene.message(session, { onBusy: 'enqueue', mayQueue: true, queue: queuedInput })
    expect(outcomes(await admitTogether([scene.message(other), later]))).toEqual(['admitted', 'queued'])
  })

  verifies('contract-30.child-busy', 'a child refuses one among others as it does one alone', async () => {
    const [child, other] = await sessions(2)
    if (!child || !other) throw new Error('no sessions')
    await scene.sql`update sessions set parent = '{}' where id = ${child}`
    await scene.sql`
      insert into children (session_id, reply_id, parent_session, parent_reply, place, top_session, top_reply, depth)
      values (${child}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0, gen_random_uuid(), gen_random_uuid(), 1)`
    const messages = [scene.message(other), scene.message(child)]
    expect(outcomes(await admitTogether(messages))).toEqual(['admitted', 'parent_waits'])
  })

  const begins = (externalId: string | null = null) => ({ session: { externalId, secretNumber: null } })

  verifies(
    'contract-25.ids-of-front-ends',
    'sessions that first messages make are made with them, at once',
    async () => {
      const externalId = randomUUID()
      const first = (title: string, more: Wanted = begins()) =>
        scene.message(randomUUID(), { title, ...begins(), ...more })
      await scene.sql`insert into revocations (agent_id, end_user, number) values (${scene.agentId}, 'ann', 1)`
      const ofOneChat = [first('chat', begins(externalId)), first('chat', begins(externalId))]
      const messages = [first('a'), first('b'), ...ofOneChat]
      const refused = [
        first('stale', { configuration: 1_000_000 }),
        first('misplaced', { place: { parent: randomUUID() } }),
        first('revoked', { user: 'ann', session: { externalId: null, secretNumber: 0 } }),
      ]
      const said = outcomes(await admitTogether([...messages, ...refused]))
      expect(said.splice(2, 2).sort()).toEqual(['admitted', 'not_found']) // the chat has one session
      expect(said).toEqual(['admitted', 'admitted', 'stale', 'not_found', 'revoked'])
      const ids = [...messages, ...refused].map(({ sessionId }) => sessionId)
      const rows = await scene.sql`
      select s.title, m.id from sessions s left join messages m on m.session_id = s.id and m.role = 'assistant'
       where s.id = any(${ids}::uuid[]) order by s.title`
      expect(rows.map(({ title }) => title)).toEqual(['a', 'b', 'chat'])
      expect(
        await transactions(
          scene,
          rows.map(({ id }) => id),
        ),
      ).toBe(1)
    },
  )
})
