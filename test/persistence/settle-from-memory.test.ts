/**
 * The owner of a reply settles it with what it has in memory. That leaves the very row that reading the frames leaves,
 * beside instances of the version before, which still read them.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ReplyInfo } from '../../src/actors/ports.ts'
import type { Outcome, ReplyEvent, StoredEvent } from '../../src/actors/reply-event.ts'
import { createReplyLog, type ReplyLog } from '../../src/actors/reply-log.ts'
import { connect } from '../../src/persistence/postgres/database.ts'
import { createJournal } from '../../src/persistence/replies/journal.ts'
import { verifies } from '../verifies.ts'
import { finished, openScene, type Scene, textAt, toolCallAt, toolResultAt, versions } from './scene.ts'

const usage = { promptTokens: 3, completionTokens: 4, estimated: false }
const error = { code: 'internal', message: 'No.', detail: 'No, "never".' } as const
const outcome = fc.constantFrom<Outcome>(
  { type: 'finished', reason: 'stop', usage },
  { type: 'finished', reason: 'cancelled', usage: { ...usage, estimated: true } },
  { type: 'failed', error, usage },
)
// Codepoints of one to four bytes, marks that combine, and what arrays, JSON and escapes are made of.
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.string({
    unit: fc.constantFrom('a', 'é', '€', '😀', '\n', '"', '\\', '{', ',', '\u0001', '\uFFFD'),
    maxLength: 6,
  }),
  fc.constantFrom('NULL', '{}', "'", ' '),
)
const event = fc.oneof(
  { weight: 4, arbitrary: text.map((value): ReplyEvent => ({ type: 'text', text: value })) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ type: fc.constant('tool_call' as const), id: text, name: text, arguments: text },
      startedAt: fc.constant('2026-01-01T00:00:00.000Z'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ type: fc.constant('tool_result' as const), id: text, ok: fc.boolean(), content: text },
      durationMs: fc.nat(),
    }),
  },
)
const flag = fc.boolean()

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  /** All that a settlement leaves, but for ids and when it was. */
  async function left({ id, sessionNum }: ReplyInfo) {
    await scene.sql`select clear_frames(${[sessionNum]}::bigint[])`
    const [row] = await scene.sql`
      select m.content, m.frame_ends, m.tool_events, m.status, m.finish_reason, m.error_code, m.error_message,
             m.error_detail, m.prompt_tokens, m.completion_tokens, m.usage_estimated, m.requester_lost,
             m.settled_at is not null as is_settled, s.next_seq, s.title, u.replies, u.agent_id, u.model,
             u.prompt_tokens as prompt_used, u.completion_tokens as completion_used, u.estimated,
             u.at = m.ended_at as is_dated,
             (select count(*) from frames f where f.session_num = ${sessionNum}) as frames
        from messages m join sessions s on s.id = m.session_id left join token_usage u on u.id = m.id
       where m.id = ${id}`
    expect(row?.frames).toBe(0)
    return row
  }

  const begin = async (includeUsage = false) => scene.begin(await scene.newSession(), { includeUsage })
  const openLog = (reply: ReplyInfo): ReplyLog =>
    createReplyLog(reply, { append: scene.journal.append, onStored() {}, onRefused() {} })

  verifies(
    'contract-4.resume',
    'settling with what the log says leaves the row that settling with the frames leaves',
    async () => {
      const how = fc.record({ includeUsage: flag, requesterLost: flag, title: fc.option(text), outcome })
      const property = fc.asyncProperty(
        fc.array(fc.tuple(event, flag), { maxLength: 12 }),
        how,
        async (all, ending) => {
          const [known, looked] = [await begin(ending.includeUsage), await begin(ending.includeUsage)]
          const log = openLog(known)
          for (const [one, isPaced] of all) {
            log.push([one])
            if (isPaced) await log.stored()
          }
          expect(await log.stored()).toBe('stored')
          const said = log.events()
          const running = await scene.journal.read(known.id, 0)
          expect(said).toEqual(running?.events)
          if (said.length > 0) await scene.journal.append(looked, () => said)
          const { includeUsage: _, ...settlement } = { ...ending, endedAt: new Date() }
          for (const [reply, words] of [[known, said] as const, [looked, null] as const]) {
            const { result } = await scene.journal.settle(reply, { ...settlement, events: words })
            expect(result).toBe('settled')
          }
          const row = await left(known)
          expect(row).toEqual(await left(looked))
          expect(row).toMatchObject({ is_settled: true, is_dated: true, replies: 1 })
          expect((await scene.journal.read(known.id, 0))?.events).toEqual(said)
        },
      )
      await fc.assert(property, {
        numRuns: 60,
        examples: [[[], { includeUsage: true, requesterLost: false, title: null, outcome: noReply }]],
      })
    },
  )

  verifies('contract-4.resume', 'a settlement from memory that is sent again changes nothing', async () => {
    const reply = await begin()
    const said = [textAt(2, 'once'), toolCallAt(2, 1, 'c')]
    await scene.journal.append(reply, () => said)
    const settlement = finished({ events: said })
    const first = await scene.journal.settle(reply, settlement)
    const row = await left(reply)
    expect(await scene.journal.settle(reply, settlement)).toEqual(first)
    expect(await scene.journal.settle(reply, finished({ events: [textAt(2, 'other')] }))).toEqual(first)
    expect(await left(reply)).toEqual(row)
  })

  verifies('contract-1.transaction-poolers', 'unnamed statements settle the same, an empty reply too', async () => {
    const sql = connect(scene.database.url, { max: 1, name: 'pooled', timeoutMs: 0, pooled: true })
    const options = { flushTimeoutMs: 60_000, onIntents() {}, log: { warn() {} } }
    const journal = createJournal({ sql, connectWriter: () => sql, instance: scene.instance, ...options })
    for (const said of [events, []]) {
      const [named, unnamed] = [await begin(), await begin()]
      await scene.journal.settle(named, finished({ events: said, endedAt }))
      expect(await journal.settle(unnamed, finished({ events: said, endedAt }))).toMatchObject({ result: 'settled' })
      expect(await left(unnamed)).toEqual(await left(named))
    }
    await journal.close()
  })

  const events: StoredEvent[] = [
    ...[toolCallAt(1, 1, 'a'), toolResultAt(1, 2, 'a', 'naïve "ß"')],
    ...[textAt(2, 'aé'), textAt(3, '€😀'), toolCallAt(3, 1, 'b')],
  ]
  const endedAt = new Date('2026-01-01T00:00:00.000Z')

  verifies('contract-1.migrations', 'an instance of the version before settles its replies as it did', async () => {
    const [mine, theirs, swept, known] = [await begin(), await begin(), await begin(), await begin()]
    for (const reply of [mine, theirs, swept, known]) await scene.journal.append(reply, () => events)
    await scene.journal.settle(mine, finished({ events: events, endedAt, title: 'Title' }))
    const { id, epoch } = theirs
    const [answer] = await scene.sql<{ outcome: string; settled_at: Date }[]>`
      select * from settle_reply(${scene.instance.id}, ${epoch}, ${id}, 'stop', null, null, null, 3, 4, false, ${endedAt},
                                 false, 'Title')`
    expect(answer).toEqual({ outcome: 'settled', settled_at: expect.any(Date) })
    const [fold] = await scene.sql<{ outcome: string }[]>`
      select fold_reply(${swept.id}, 'stop', null, null, null, 3, 4, false, ${endedAt}, false, 'Title') as outcome`
    expect(fold).toEqual({ outcome: 'settled' })
    await scene.sql`
      select settle_reply(${scene.instance.id}, ${epoch}, ${known.id}, 'stop', null, null, null, 3, 4, false, ${endedAt},
                          false, 'Title', 'aé€😀', ${[3, 10]}::integer[],
                          (select tool_events from messages where id = ${theirs.id}))`
    const nums = [theirs, swept, known].map(({ sessionNum }) => sessionNum)
    expect(await scene.sql`select 1 from frames where session_num in ${scene.sql(nums)}`).toHaveLength(0)
    const row = await left(mine)
    expect(row).toMatchObject({ content: 'aé€😀', frame_ends: [3, 10], next_seq: 6, title: 'Title' })
    expect(await left(theirs)).toEqual(row)
    expect(await left(swept)).toEqual(row)
    expect(await left(known)).toEqual(row)
    const [again] = await scene.sql<{ outcome: string }[]>`
      select outcome from settle_reply(${scene.instance.id}, ${epoch + 1}, ${id}, 'stop', null, null, null, 3, 4, false,
                                       ${endedAt}, false, null)`
    expect(again).toEqual({ outcome: 'fenced' })
  })

  verifies(
    ['contract-4.owner-lost', 'contract-1.migrations'],
    'a reply whose usage nobody knows is estimated from its frames by the function of before',
    async () => {
      const reply = await begin()
      await scene.journal.append(reply, () => [textAt(2, 'x'.repeat(41))])
      await scene.sql`
        select fold_reply(${reply.id}, 'error', 'instance_lost', 'm', 'd', null, null, null, ${endedAt}, true, null)`
      expect(await left(reply)).toMatchObject({
        ...{ status: 'error', error_code: 'instance_lost', content: 'x'.repeat(41), frame_ends: [41], next_seq: 4 },
        ...{ prompt_tokens: 2, completion_tokens: 11, usage_estimated: true, requester_lost: true },
      })
    },
  )
})

const noReply: Outcome = { type: 'failed', error, usage }
