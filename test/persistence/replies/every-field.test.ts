/**
 * No field of an admission or a settlement is lost between TypeScript and its column, whichever statement stores it: every
 * key has a value of its own here, and every column of a message is written by one of both.
 */
import { readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { MessagePart, ReplyInfo, Settlement } from '../../../src/actors/ports/index.ts'
import { contributions } from '../../../src/compose/contributions.ts'
import { admissionColumns } from '../../../src/persistence/replies/admission/admission.ts'
import { settle, settlementRow, settleTogether } from '../../../src/persistence/replies/settling/settlement.ts'
import type { outcomeColumns } from '../../../src/persistence/replies/settling/stored-outcome.ts'
import { jsonText, type reasoningColumns } from '../../../src/persistence/replies/settling/stored-reply.ts'
import { verifies } from '../../verifies.ts'
import { finished, openScene, reasoningAt, type Scene, settling, textAt, toolCallAt, versions } from '../scene.ts'
import { waits } from './together-scene.ts'

type Keys<T> = T extends unknown ? keyof T : never
type SettledKey = Keys<ReturnType<typeof outcomeColumns>> | Keys<ReturnType<typeof reasoningColumns>>
type AdmittedKey = Keys<ReturnType<typeof admissionColumns>>
type Row = Record<string, unknown>

const admission = new URL('../../../src/persistence/replies/admission/', import.meta.url)

const usage = { promptTokens: 101, completionTokens: 102, estimated: false }
const calls = [{ id: 'c', name: 'look', arguments: '{}' }]
const figures = { firstTokenMs: 103, durationMs: 104, attempts: 105 }
const call = toolCallAt(3, 1, 'c')
const settledStep = { sessionId: '', at: new Date(), from: 'streaming.settling', to: 'complete', event: 'settled' }
const both: Partial<Settlement> = {
  events: [textAt(2, 'said'), reasoningAt(3, 'thought'), call],
  endedAt: new Date('2026-01-02T03:04:05.000Z'),
  requesterLost: true,
  reasoningMs: 106,
  figures,
  title: 'A title of its own',
  steps: [{ ...settledStep, messageId: null, detail: { attempts: 105 } }],
}
const error = { code: 'provider_timeout', message: 'It took too long.', detail: 'It took 99 s.' } as const
const settlements = {
  waiting: finished({
    ...both,
    outcome: { type: 'finished', reason: 'tool_calls', usage, calls },
    waiting: waits.waiting,
  }),
  failed: finished({ ...both, outcome: { type: 'failed', error, usage } }),
}

/** By key: the column that has it and what it is there, after one of both settlements. */
const settled = {
  finish_reason: ['messages.finish_reason', { waiting: 'tool_calls', failed: 'error' }],
  error_code: ['messages.error_code', { waiting: null, failed: error.code }],
  error_message: ['messages.error_message', { waiting: null, failed: error.message }],
  error_detail: ['messages.error_detail', { waiting: null, failed: error.detail }],
  prompt_tokens: ['messages.prompt_tokens', 101],
  completion_tokens: ['messages.completion_tokens', 102],
  usage_estimated: ['messages.usage_estimated', false],
  ended_at: ['messages.ended_at', '2026-01-02T03:04:05+00:00'],
  requester_lost: ['messages.requester_lost', true],
  reasoning_ms: ['messages.reasoning_ms', 106],
  facts: ['messages.facts', expect.objectContaining(figures)],
  title: ['sessions.title', 'A title of its own'],
  shown_calls: ['messages.shown_calls', { waiting: calls, failed: null }],
  waiting: ['waits.carried', { waiting: expect.stringContaining('"version":1'), failed: undefined }],
  reasoning: ['messages.reasoning', 'thought'],
  reasoning_frames: ['messages.reasoning_frames', [2]],
  reasoning_ends: ['messages.reasoning_ends', [7]],
  steps: ['step_runs.told', '[[null,"",".settling","complete","settled",{"attempts":105}]]'],
} satisfies Record<SettledKey, readonly [string, unknown]>

/** What the statements take or set beside these keys. */
const beside = {
  'messages.content': 'said',
  'messages.frame_ends': [4, 4],
  'messages.tool_events': [call],
  'messages.settled_at': expect.any(String),
  'messages.status': { waiting: 'complete', failed: 'error' },
  'sessions.next_seq': 777,
}

const part: MessagePart = {
  type: 'file',
  sha256: 'ab'.repeat(32),
  mediaType: 'text/plain',
  filename: 'a.txt',
  size: 3,
  detail: null,
  sourceUrl: null,
  place: 2,
  async *read() {},
}
const facts = {
  providerId: '01a2140a-3896-7659-8099-c38327a48508',
  prompt: { id: 'p', name: 'Prompt', sha256: 'ab' },
  overrides: { seed: 1 },
}
const hash = Buffer.from('a hash of a body')

/** By key: its column, or what it decides instead, which other tests hold. `u.`: of the user's message. */
const admitted = {
  agent_id: 'decides: whose session it must be',
  session_id: 'messages.session_id',
  end_user: 'decides: whose session it must be',
  user_id: 'u.id',
  reply_id: 'messages.id',
  model: 'messages.model',
  include_usage: 'messages.include_usage',
  key: 'idempotency_keys.key',
  body_hash: 'idempotency_keys.body_hash',
  is_retry: 'decides: whether it joins',
  may_start: 'decides: whether it only joins',
  pin: 'decides: whether the session is pinned to another version',
  configuration: 'decides: whether it is stale',
  make_session: 'decides: whether a session is made',
  external_id: 'decides: by what a session that is made is found',
  begins: 'decides: what a session that is made holds before it',
  derived_title: 'decides: the title of a session without one',
  title_is_draft: 'decides: whether a model replaces it',
  secret_number: 'decides: whether the secret is revoked',
  parts: 'message_parts.filename',
  decided_by: 'decides: who rejects what waits',
  place: 'messages.asked_place',
  facts: 'messages.facts',
  texts: 'decides: what the session holds besides; see kept-texts.test.ts',
  on_busy: 'decides: what it does while a reply runs',
  may_queue: 'decides: whether it may wait',
  input: 'queued_messages.input',
  uses_values: 'decides: whether values of the session are told',
  history: 'decides: whether what stands before it is told',
  limits: 'decides: whether it is admitted; what it counts is in tables of its own',
  wait_id: 'messages.continues',
  decisions: 'decides: what becomes of calls that wait',
  answers: 'decides: what becomes of calls that wait',
  decisions_hash: 'messages.decisions_hash',
  in_part: 'decides: whether other calls may be left',
  max_session_bytes: 'decides: whether the session has room',
  max_user_bytes: 'decides: whether its user has room',
  max_user_sessions: 'decides: whether its user may have one more session',
} satisfies Record<AdmittedKey, string>

/** Keys of messages that are always admitted alone, or that nothing stands against where they are admitted with others. */
const aloneKeys = 'is_retry may_start begins texts wait_id decisions decisions_hash in_part answers'.split(' ')
const unopposedKeys = ['on_busy', 'may_queue', 'input']

/** Reads the text of the functions that are given a message, without comments. */
async function textOf(isWanted: (file: string) => boolean): Promise<string> {
  const elsewhere = ['queue/store/enqueue_message.sql', 'approvals/store/accept_decisions.sql']
  const files = [...(await readdir(admission)), ...elsewhere.map((file) => `../../../features/${file}`)]
  const wanted = files.filter((file) => file.endsWith('.sql') && isWanted(file))
  const texts = await Promise.all(wanted.map((file) => readFile(new URL(file, admission), 'utf8')))
  return texts.join('\n').replaceAll(/\/\*[\s\S]*?\*\/|--.*/gu, '')
}

/** Tells whether a function reads the key: of the message's JSON, or of the record `m` that it made of it. */
const reads = (text: string, key: string): boolean =>
  new RegExp(String.raw`\bm\.${key}\b|p_message (->>?|\?) '${key}'`, 'u').test(text)

verifies('contract-4.stored-before-shown', 'every key of an admission is read, by either statement', async () => {
  const alone = await textOf((file) => file !== 'admit_messages.sql')
  const together = await textOf((file) => file === 'admit_messages.sql')
  const keys = Object.keys(admitted)
  expect(keys.filter((key) => !reads(alone, key))).toEqual([])
  expect(keys.filter((key) => !reads(together, key)).toSorted()).toEqual([...aloneKeys, ...unopposedKeys].toSorted())
})

verifies('contract-4.stored-before-shown', 'the table of message_fields names each field of an admission', async () => {
  const file = '../../../src/persistence/replies/admission/message_fields.sql'
  const text = await readFile(new URL(file, import.meta.url), 'utf8')
  const names = text.matchAll(/^ {5,}(\w+) +(?:uuid|text|boolean|bigint|jsonb)\b/gm)
  const expected = [...Object.keys(admitted), 'is_queued'] // which begin_next sets
  expect(Array.from(names, ([, name]) => name).sort()).toEqual(expected.sort())
})

/** Columns that an admission sets by itself. */
const own = ['position', 'role', 'status', 'content', 'created_at', 'session_num', 'first_seq', 'instance_id', 'epoch']
const tree = ['parent', 'line', 'lines_before']

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
    await scene.sql`insert into part_contents (sha256, size) values (decode(${part.sha256}, 'hex'), 3)`
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  /** All columns of what a reply wrote, named `table.column`. */
  async function storedOf(replyId: string): Promise<Row> {
    const [row] = await scene.sql<{ stored: Record<string, Row | null> }[]>`
      select jsonb_build_object(
               'messages', to_jsonb(m), 'sessions', to_jsonb(s),
               'u', (select to_jsonb(u) from messages u where u.session_id = s.id and u.position = m.position - 1),
               'waits', (select to_jsonb(w) from waits w where w.session_id = s.id and w.reply_id = m.id),
               'step_runs', (select to_jsonb(r) from step_runs r where r.message_id = m.id),
               'token_usage', (select to_jsonb(t) from token_usage t where t.id = m.id),
               'message_parts', (select to_jsonb(p) from message_parts p where p.session_id = s.id),
               'idempotency_keys', (select to_jsonb(k) from idempotency_keys k where k.session_id = s.id)) as stored
        from messages m join sessions s on s.id = m.session_id where m.id = ${replyId}`
    return Object.fromEntries(
      Object.entries(row?.stored ?? {}).flatMap(([table, columns]) =>
        Object.entries(columns ?? {}).map(([column, value]) => [`${table}.${column}`, value]),
      ),
    )
  }

  const settleBy = {
    async alone(reply: ReplyInfo, settlement: Settlement) {
      expect(await settle(settling(scene), reply, settlement, 777)).toMatchObject({ result: 'settled' })
    },
    async together(reply: ReplyInfo, settlement: Settlement) {
      const row = settlementRow(settling(scene), reply, settlement, 777) ?? ''
      const item = { reply, settlement, row, sessionId: reply.sessionId }
      expect(await settleTogether(scene.sql, scene.instance.id, [item])).toMatchObject([{ result: 'settled' }])
    },
  }

  const admitBy = {
    async alone(columns: ReturnType<typeof admissionColumns>, text: string) {
      const [row] = await scene.sql<{ outcome: string }[]>`
        select admit_message(${scene.instance.id}, 1, ${jsonText(columns)}::text::jsonb, ${text}) ->> 'outcome' as outcome`
      return row?.outcome
    },
    async together(columns: ReturnType<typeof admissionColumns>, text: string) {
      const [row] = await scene.sql<{ outcome: string }[]>`
        select admit_messages(${scene.instance.id}, 1, ${`[${jsonText({ ...columns, text })}]`}::text::jsonb)
               -> 0 ->> 'outcome' as outcome`
      return row?.outcome
    },
  }

  const settledColumns = Object.values(settled).map(([column]) => column)

  for (const way of ['alone', 'together'] as const) {
    for (const end of ['waiting', 'failed'] as const) {
      verifies('contract-4.stored-before-shown', `settled ${way}, ${end}: each field is in its column`, async () => {
        const reply = await scene.begin(await scene.newSession())
        await scene.sql`update sessions set title = null where id = ${reply.sessionId}` // as in a session that was given a history
        await settleBy[way](reply, settlements[end])
        const stored = await storedOf(reply.id)
        const expected = [...Object.values(settled), ...Object.entries(beside)].map(([column, value]) => [
          column,
          typeof value === 'object' && value !== null && end in value ? Object(value)[end] : value,
        ])
        expect(Object.fromEntries(expected.map(([column]) => [column, stored[column]]))).toEqual(
          Object.fromEntries(expected),
        )
        expect(stored).toMatchObject({
          'token_usage.prompt_tokens': 101,
          'token_usage.completion_tokens': 102,
          'token_usage.first_token_ms': 103,
          'token_usage.duration_ms': 104,
          'token_usage.failures': end === 'failed' ? 1 : 0,
        })
      })
    }

    verifies('contract-4.stored-before-shown', `admitted ${way}: each field is in its column`, async () => {
      const before = await scene.begin(await scene.newSession())
      await scene.journal.settle(before, finished())
      const message = scene.message(before.sessionId, {
        text: 'Hello of its own',
        model: 'model-of-its-own',
        includeUsage: true,
        idempotency: { key: 'key of its own', bodyHash: hash },
        parts: [part],
        place: { parent: before.id },
        facts,
      })
      const columns = admissionColumns(message, contributions.admission)
      expect(await admitBy[way](columns, message.text)).toBe('admitted')
      const stored = await storedOf(message.replyId)
      const values = {
        session_id: before.sessionId,
        user_id: columns.user_id,
        reply_id: message.replyId,
        model: 'model-of-its-own',
        include_usage: true,
        key: 'key of its own',
        body_hash: `\\x${hash.toString('hex')}`,
        parts: 'a.txt',
        place: { parent: before.id },
        facts,
      }
      for (const [key, value] of Object.entries(values)) {
        expect(stored[admitted[key as AdmittedKey]], key).toEqual(value)
      }
      expect(stored['u.content']).toBe('Hello of its own')
    })
  }

  verifies('contract-15.waiting', 'admitted with decisions: each field is in its column', async () => {
    const asked = await scene.begin(await scene.newSession())
    await scene.journal.settle(asked, settlements.waiting)
    const decided = {
      waitId: asked.id,
      calls: [{ id: 'c', decision: 'respond' as const, output: 'x' }],
      inPart: false,
      hash,
    }
    const message = scene.message(asked.sessionId, { text: '', approval: { decided } })
    expect(await admitBy.alone(admissionColumns(message, contributions.admission), '')).toBe('admitted')
    const stored = await storedOf(message.replyId)
    expect(stored['messages.continues']).toBe(asked.id)
    expect(stored['messages.decisions_hash']).toBe(`\\x${hash.toString('hex')}`)
  })

  verifies('contract-4.stored-before-shown', 'every column of a message is written by one of both', async () => {
    const columns = await scene.sql<{ name: string }[]>`
      select 'messages.' || attname as name from pg_attribute
       where attrelid = 'messages'::regclass and attnum > 0 and not attisdropped`
    const written = [...settledColumns, ...Object.keys(beside), ...Object.values(admitted)]
    const named = new Set([...written, ...[...own, ...tree].map((name) => `messages.${name}`)])
    expect(columns.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([])
  })
})
