/** An owner settles a reply from memory, with exactly the row that settling from its frames would give. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ReplyInfo } from '../../../../src/actors/ports/index.ts'
import type { Outcome, ReplyEvent, StoredEvent } from '../../../../src/actors/reply/reply-event.ts'
import { createReplyLog, type ReplyLog } from '../../../../src/actors/reply/reply-log.ts'
import { contributions } from '../../../../src/compose/contributions.ts'
import { connect } from '../../../../src/persistence/postgres/database.ts'
import { createJournal } from '../../../../src/persistence/replies/writing/journal.ts'
import { samples } from '../../../support/samples.ts'
import { verifies } from '../../../verifies.ts'
import { finished, openScene, type Scene, textAt, toolCallAt, toolResultAt, versions } from '../../scene.ts'

const usage = { promptTokens: 3, completionTokens: 4, estimated: false }
const error = { code: 'internal', message: 'No.', detail: 'No, "never".' } as const
const outcome = fc.constantFrom<Outcome>(
  { type: 'finished', reason: 'stop', usage },
  { type: 'finished', reason: 'cancelled', usage: { ...usage, estimated: true } },
  { type: 'failed', error, usage },
)
// Code points of one to four bytes, combining marks, and characters special in arrays, JSON and escapes.
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
  { weight: 2, arbitrary: text.map((value): ReplyEvent => ({ type: 'reasoning', text: value })) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('tool_call' as const),
      id: text,
      name: text,
      arguments: text,
      startedAt: fc.constant('2026-01-01T00:00:00.000Z'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('tool_result' as const),
      id: text,
      ok: fc.boolean(),
      content: text,
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

  /** Everything a settlement stores, except ids and times. */
  async function left({ id }: Pick<ReplyInfo, 'id'>) {
    const [row] = await scene.sql`
      select m.content, m.frame_ends, m.tool_events, m.reasoning, m.reasoning_frames, m.reasoning_ends, m.reasoning_ms, m.status, m.finish_reason, m.error_code, m.error_message,
             m.error_detail, m.prompt_tokens, m.completion_tokens, m.usage_estimated, m.requester_lost,
             m.settled_at is not null as is_settled, s.next_seq, s.title, u.replies, u.agent_id, u.model,
             u.prompt_tokens as prompt_used, u.completion_tokens as completion_used, u.estimated,
             u.at = m.ended_at as is_dated
        from messages m join sessions s on s.id = m.session_id left join token_usage u on u.id = m.id
       where m.id = ${id}`
    return row
  }

  const begin = async (includeUsage = false) => scene.begin(await scene.newSession(), { includeUsage })
  const openLog = (reply: ReplyInfo): ReplyLog =>
    createReplyLog(reply, { ...scene.journal, onStored() {}, onRefused() {} })

  verifies('contract-4.resume', 'settling from the log and settling from the frames store the same row', async () => {
    const reasoningMs = fc.option(fc.nat())
    const how = fc.record({ includeUsage: flag, requesterLost: flag, reasoningMs, title: fc.option(text), outcome })
    const pieces = fc.array(fc.tuple(event, flag), { maxLength: 12 })
    const property = fc.asyncProperty(pieces, flag, flag, how, async (all, isStored, isMoved, ending) => {
      const [known, looked] = [await begin(ending.includeUsage), await begin(ending.includeUsage)]
      const log = openLog(known)
      for (const [one, isPaced] of all) {
        log.push([one])
        if (isPaced) await log.stored()
      }
      // Else what no flush has taken is stored by the settlement.
      if (isStored) await log.stored()
      const { events: said } = await log.finish()
      if (said === null) throw new Error('The log does not know its events.')
      if (isStored) expect(said).toEqual((await scene.journal.read(known.id, 0))?.events)
      if (said.length > 0) await scene.journal.append(looked, () => said)
      if (isMoved)
        await scene.sql`select move_frames(${looked.instanceId}, ${looked.epoch}, ${Number.MAX_SAFE_INTEGER})`
      const { includeUsage: _, ...settlement } = { ...ending, figures: null, endedAt: new Date() }
      for (const [reply, words] of [[known, said] as const, [looked, null] as const]) {
        const { result } = await scene.journal.settle(reply, { ...settlement, events: words })
        expect(result).toBe('settled')
      }
      const row = await left(known)
      expect(row).toEqual(await left(looked))
      expect(row).toMatchObject({ is_settled: true, is_dated: true, replies: 1 })
      expect((await scene.journal.read(known.id, 0))?.events).toEqual(said)
    })
    await fc.assert(property, {
      numRuns: samples(20, 60),
      examples: [
        [
          [],
          false,
          false,
          { includeUsage: true, requesterLost: false, reasoningMs: null, title: null, outcome: noReply },
        ],
      ],
    })
  })

  verifies('contract-4.resume', 'a repeated settlement from memory changes nothing', async () => {
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

  verifies(
    'contract-1.transaction-poolers',
    'unnamed statements settle in the same way, also an empty reply',
    async () => {
      const sql = connect(scene.database.url, { max: 1, name: 'pooled', timeoutMs: 0, pooled: true })
      const options = { flushTimeoutMs: 60_000, onIntents() {}, log: { warn() {} } }
      const journal = createJournal({
        sql,
        contributions,
        connectWriter: () => sql,
        instance: scene.instance,
        ...options,
      })
      for (const said of [events, []]) {
        const [named, unnamed] = [await begin(), await begin()]
        await scene.journal.settle(named, finished({ events: said, endedAt }))
        expect(await journal.settle(unnamed, finished({ events: said, endedAt }))).toMatchObject({ result: 'settled' })
        expect(await left(unnamed)).toEqual(await left(named))
      }
      await journal.close()
    },
  )

  const events: StoredEvent[] = [
    ...[toolCallAt(1, 1, 'a'), toolResultAt(1, 2, 'a', 'naïve "ß"')],
    ...[textAt(2, 'aé'), textAt(3, '€😀'), toolCallAt(3, 1, 'b')],
  ]
  const endedAt = new Date('2026-01-01T00:00:00.000Z')

  verifies(
    'contract-1.migrations',
    'an outcome from a version with one field less or more is stored as far as it is understood',
    async () => {
      const answers = [
        '{"finish_reason": "stop"}',
        '{"finish_reason": "stop", "prompt_tokens": 3, "from_tomorrow": []}',
      ]
      for (const outcome of answers) {
        const { id, epoch } = await begin()
        const [row] = await scene.sql<{ answer: unknown }[]>`
          select settle_reply(${scene.instance.id}, ${epoch}, ${id},
                              ${outcome}::text::jsonb || jsonb_build_object('ended_at', clock_timestamp()),
                              'aé', ${[1, 3]}::integer[], null) as answer`
        expect(row?.answer).toEqual({ outcome: 'settled', settled_at: expect.any(String), next: null })
        expect(await left({ id })).toMatchObject({ finish_reason: 'stop', content: 'aé', next_seq: 6 })
      }
    },
  )

  verifies('contract-4.owner-lost', 'unknown usage is estimated from the conversation', async () => {
    const reply = await begin()
    await scene.journal.append(reply, () => [textAt(2, 'x'.repeat(41))])
    await scene.sql`
      select fold_reply(${reply.id},
                        jsonb_build_object('finish_reason', 'error', 'error_code', 'instance_lost',
                                           'ended_at', clock_timestamp(), 'requester_lost', true),
                        null, null, null)`
    expect(await left(reply)).toMatchObject({
      status: 'error',
      error_code: 'instance_lost',
      content: 'x'.repeat(41),
      frame_ends: [41],
      next_seq: 4,
      prompt_tokens: 2,
      completion_tokens: 11,
      usage_estimated: true,
      requester_lost: true,
    })
  })

  verifies(
    'contract-4.stored-before-shown',
    'lone surrogates in an error message do not prevent settling',
    async () => {
      const reply = await begin()
      const broken = { code: 'internal', message: 'half \uD83D', detail: '\uDE00 half' } as const
      await scene.journal.settle(
        reply,
        finished({ outcome: { type: 'failed', error: broken, usage }, title: '\uD83D' }),
      )
      expect(await left(reply)).toMatchObject({
        error_message: 'half \uFFFD',
        error_detail: '\uFFFD half',
        title: '\uFFFD',
      })
    },
  )
})

const noReply: Outcome = { type: 'failed', error, usage }
