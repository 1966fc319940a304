/**
 * No field of an admission or a settlement is lost between TypeScript and its column, whichever statement stores it: every
 * key has a value of its own here, and every column of a message is written by one of both.
 */
import { readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ReplyInfo, Settlement } from '../../../src/actors/ports/index.ts'
import { contributions } from '../../../src/compose/contributions.ts'
import { admissionColumns } from '../../../src/persistence/replies/admission/admission.ts'
import { settle, settlementRow, settleTogether } from '../../../src/persistence/replies/settling/settlement.ts'
import { jsonText } from '../../../src/persistence/replies/settling/stored-reply.ts'
import { verifies } from '../../verifies.ts'
import { finished, openScene, type Scene, settling, versions } from '../scene.ts'
import { type AdmittedKey, admitted, beside, facts, hash, part, settled, settlements } from './field-values.ts'

type Row = Record<string, unknown>

const admission = new URL('../../../src/persistence/replies/admission/', import.meta.url)

/** Keys of messages that are always admitted alone, or that nothing stands against where they are admitted with others. */
const aloneKeys = 'is_retry may_start begins texts wait_id decisions decisions_hash in_part answers'.split(' ')
const unopposedKeys = ['may_queue', 'input']

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
      const item = { reply, settlement, row, lane: reply.sessionId }
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
