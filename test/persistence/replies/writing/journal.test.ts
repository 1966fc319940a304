/** Admission: which messages start a reply, join one or are refused (contract section 4). */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { Admission, NewMessage } from '../../../../src/actors/ports/index.ts'
import { verifies } from '../../../verifies.ts'
import { failed, finished, openScene, type Scene, textAt, versions } from '../../scene.ts'

const hashOf = (body: string): Buffer => createHash('sha256').update(body).digest()
const keyed = (key: string, body = 'Hello'): Partial<NewMessage> => ({ idempotency: { key, bodyHash: hashOf(body) } })
const unknown = '00000000-0000-4000-8000-00000000dead'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const countMessages = async (sessionId: string): Promise<number> => {
    const [row] = await scene.sql<{ n: number }[]>`
      select count(*)::integer as n from messages where session_id = ${sessionId}`
    return row?.n ?? -1
  }
  const send = (sessionId: string, wanted?: Partial<NewMessage>): Promise<Admission> =>
    scene.journal.admit(scene.message(sessionId, wanted))

  verifies(
    'spec-4.12.stateful',
    'an admitted message is stored with its reply, positions and ids continue',
    async () => {
      const session = await scene.newSession()
      const first = await send(session, { includeUsage: true })
      expect(first).toMatchObject({
        outcome: 'admitted',
        parentId: null,
        historyEnd: -1,
        restState: 'idle',
        titleFrom: expect.any(String),
      })
      if (first.outcome !== 'admitted') return
      expect(first.reply).toMatchObject({ sessionId: session, firstSeq: 1, includeUsage: true, epoch: 1 })
      await scene.journal.append(first.reply, () => [textAt(2, 'a'), textAt(3, 'b')])
      await scene.journal.settle(first.reply, finished({ title: 'Hello' }))
      // role 1, texts 2 and 3, finish 4, usage 5, [DONE] 6
      const second = await send(session)
      expect(second).toMatchObject({
        outcome: 'admitted',
        parentId: first.reply.id,
        historyEnd: 1,
        restState: 'complete',
        titleFrom: null,
      })
      expect(second.outcome === 'admitted' && second.reply.firstSeq).toBe(7)
    },
  )

  verifies('contract-3.session-ids', 'ids continue after the last frame of every kind of end', async () => {
    const session = await scene.newSession()
    const reply = await scene.begin(session)
    await scene.journal.append(reply, () => [textAt(2, 'a')])
    await scene.journal.settle(reply, failed()) // role 1, text 2, error 3
    const next = await send(session)
    expect(next).toMatchObject({ outcome: 'admitted', restState: 'error' })
    if (next.outcome !== 'admitted') return
    expect(next.reply.firstSeq).toBe(4)
    const outcome = {
      type: 'finished',
      reason: 'cancelled',
      usage: { promptTokens: 0, completionTokens: 0, estimated: true },
    } as const
    await scene.journal.settle(next.reply, finished({ outcome })) // role 4, finish 5, [DONE] 6
    const last = await send(session)
    expect(last).toMatchObject({ outcome: 'admitted', restState: 'cancelled' })
    expect(last.outcome === 'admitted' && last.reply.firstSeq).toBe(7)
  })

  verifies('contract-4.busy', 'a second message while a reply runs is busy, and not stored', async () => {
    const session = await scene.newSession()
    await scene.begin(session)
    expect(await send(session, { text: 'Another' })).toEqual({ outcome: 'busy' })
    expect(await countMessages(session)).toBe(2)
  })

  verifies('contract-4.busy', 'of concurrent messages on many connections exactly one is admitted', async () => {
    const other = await scene.another()
    for (let round = 0; round < 20; round++) {
      const session = await scene.newSession()
      const outcomes = await Promise.all([
        send(session),
        other.journal.admit(scene.message(session)),
        send(session, { text: 'x' }),
        other.journal.admit(scene.message(session, { text: 'y' })),
      ])
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['admitted', 'busy', 'busy', 'busy'])
      expect(await countMessages(session)).toBe(2)
    }
  })

  verifies(
    'contract-4.idempotency',
    'the same key and body join while it runs and after; another body is refused',
    async () => {
      const session = await scene.newSession()
      const reply = await scene.begin(session, keyed('k1'))
      expect(await send(session, keyed('k1'))).toEqual({ outcome: 'joined', replyId: reply.id })
      expect(await send(session, keyed('k1', 'else'))).toEqual({ outcome: 'key_reused' })
      await scene.journal.settle(reply, finished())
      expect(await send(session, keyed('k1'))).toEqual({ outcome: 'joined', replyId: reply.id })
      // A newer reply does not take over the key.
      const newer = await scene.begin(session, keyed('k2'))
      expect(newer.id).not.toBe(reply.id)
      expect(await send(session, keyed('k1'))).toEqual({ outcome: 'joined', replyId: reply.id })
      expect(await countMessages(session)).toBe(4)
      // Keys belong to their session.
      expect((await send(await scene.newSession(), keyed('k1', 'else'))).outcome).toBe('admitted')
    },
  )

  verifies(
    'contract-4.idempotency',
    'the same key sent concurrently on two connections stores one message',
    async () => {
      const other = await scene.another()
      for (let round = 0; round < 20; round++) {
        const session = await scene.newSession()
        const both = await Promise.all([
          send(session, keyed('same')),
          other.journal.admit(scene.message(session, keyed('same'))),
        ])
        expect(both.map(({ outcome }) => outcome).sort()).toEqual(['admitted', 'joined'])
        expect(await countMessages(session)).toBe(2)
      }
    },
  )

  verifies('contract-4.idempotency', 'a key is kept for 24 hours, then it can be reused for another body', async () => {
    const session = await scene.newSession()
    const first = await scene.begin(session, keyed('day'))
    await scene.journal.settle(first, finished())
    const age = (hours: string) => scene.sql`
      update idempotency_keys set created_at = clock_timestamp() - ${hours}::interval where session_id = ${session}`
    await age('23 hours 59 minutes')
    expect(await send(session, keyed('day'))).toEqual({ outcome: 'joined', replyId: first.id })
    await age('24 hours 1 minute')
    const second = await scene.begin(session, keyed('day', 'else'))
    expect(second.id).not.toBe(first.id)
    expect(await send(session, keyed('day', 'else'))).toEqual({ outcome: 'joined', replyId: second.id })
  })

  verifies('contract-4.idempotency', 'a refused request does not use up its key', async () => {
    const session = await scene.newSession()
    const reply = await scene.begin(session)
    expect(await send(session, keyed('later'))).toEqual({ outcome: 'busy' })
    await scene.journal.settle(reply, finished())
    expect(await send(session, { ...keyed('later'), mayStart: false })).toEqual({ outcome: 'refused' })
    expect((await send(session, keyed('later', 'another body'))).outcome).toBe('admitted')
  })

  verifies('contract-1.max-running', 'a full instance refuses new messages but still allows joins', async () => {
    const session = await scene.newSession()
    expect(await send(session, { mayStart: false })).toEqual({ outcome: 'refused' })
    // An earlier call may still reach the server.
    expect(await send(session, { mayStart: false, isLate: true })).toEqual({ outcome: 'unknown' })
    expect(await countMessages(session)).toBe(0)
    const reply = await scene.begin(session, keyed('k'))
    expect(await send(session, { ...keyed('k'), mayStart: false })).toEqual({ outcome: 'joined', replyId: reply.id })
    expect(await send(session, { isRetry: true, mayStart: false })).toEqual({ outcome: 'joined', replyId: reply.id })
  })

  verifies('spec-7.1.errors', 'unknown sessions and those of another agent are not found', async () => {
    const session = await scene.newSession()
    expect(await send(unknown)).toEqual({ outcome: 'not_found' })
    expect(await send(session, { agentId: unknown })).toEqual({ outcome: 'not_found' })
    expect(await countMessages(session)).toBe(0)
  })

  verifies('contract-4.retry-join', 'a retry joins a running reply of the same message, no other', async () => {
    const session = await scene.newSession()
    const reply = await scene.begin(session, { text: 'continue' })
    expect(await send(session, { text: 'continue', isRetry: true })).toEqual({ outcome: 'joined', replyId: reply.id })
    expect(await send(session, { text: 'continue' })).toEqual({ outcome: 'busy' })
    expect(await send(session, { text: 'Continue', isRetry: true })).toEqual({ outcome: 'busy' })
    expect(await countMessages(session)).toBe(2)
  })

  verifies('contract-4.retry-join', 'a second "continue" does not get the reply to the first', async () => {
    const session = await scene.newSession()
    const first = await scene.begin(session, { text: 'continue' })
    await scene.journal.settle(first, finished({ requesterLost: false }))
    // Its own first attempt never arrived, so this one counts as a retry: the first reply was delivered all the same.
    const second = await send(session, { text: 'continue', isRetry: true })
    expect(second.outcome).toBe('admitted')
    expect(await countMessages(session)).toBe(4)
  })

  verifies(
    'contract-4.retry-join',
    'a retry joins an ended reply whose requester was lost, for 10 minutes',
    async () => {
      const session = await scene.newSession()
      const lost = await scene.begin(session, { text: 'continue' })
      await scene.journal.settle(lost, failed({ requesterLost: true }))
      const retry = { text: 'continue', isRetry: true }
      expect(await send(session, retry)).toEqual({ outcome: 'joined', replyId: lost.id })
      expect((await send(session, { ...retry, text: 'go on', mayStart: false })).outcome).toBe('refused')
      const age = (minutes: string) => scene.sql`
      update messages set created_at = clock_timestamp() - ${minutes}::interval
       where session_id = ${session} and role = 'user'`
      await age('9 minutes 50 seconds')
      expect(await send(session, retry)).toEqual({ outcome: 'joined', replyId: lost.id })
      await age('10 minutes 5 seconds')
      expect((await send(session, retry)).outcome).toBe('admitted')
    },
  )

  verifies('contract-4.retry-join', 'only the newest message is joined', async () => {
    const session = await scene.newSession()
    const lost = await scene.begin(session, { text: 'one' })
    await scene.journal.settle(lost, finished({ requesterLost: true }))
    const newest = await scene.begin(session, { text: 'two' })
    await scene.journal.settle(newest, finished({ requesterLost: true }))
    expect((await send(session, { text: 'one', isRetry: true })).outcome).toBe('admitted')
  })

  verifies('contract-4.fencing', 'an instance that was declared lost admits nothing', async () => {
    const { instance, journal } = await scene.another()
    await scene.sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
    const session = await scene.newSession()
    expect(await journal.admit(scene.message(session, keyed('k')))).toEqual({ outcome: 'fenced' })
    expect(await countMessages(session)).toBe(0)
    instance.believed += 1
    expect((await journal.admit(scene.message(session, keyed('k')))).outcome).toBe('admitted')
  })
})
