/** Reading the history of a session whose replies called tools. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import type { HistoryToolEvent } from '../../../../src/actors/ports/index.ts'
import { type ReplyEventKind, replyEventKinds } from '../../../../src/actors/reply/reply-event.ts'
import { readHistory } from '../../../../src/persistence/replies/reading/history.ts'
import { createAgent } from '../../../support/app.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'

let db: FreshDatabase
let session = ''
const turns = 20

beforeAll(async () => {
  db = await freshDatabase()
  const { agentId } = await createAgent(db)
  const [row] = await db.sql<{ id: string }[]>`insert into sessions (agent_id) values (${agentId}) returning id`
  session = row?.id ?? ''
  // Each reply: "ä", then a call whose result has 100,000 characters, then "b".
  const tools = JSON.stringify([
    { seq: 6, part: 1, event: { type: 'tool_call', id: 'c', name: 'look', arguments: '{}', startedAt: 'then' } },
    { seq: 6, part: 2, event: { type: 'tool_result', id: 'c', ok: true, content: 'x'.repeat(100_000), durationMs: 1 } },
  ])
  await db.sql`
    insert into messages (id, session_id, position, role, status, content, first_seq, frame_ends, tool_events)
    select gen_random_uuid(), ${session}, n, case when n % 2 = 0 then 'user' else 'assistant' end, 'complete',
           case when n % 2 = 0 then n::text else 'äb' end, 5, '{2,3}', case when n % 2 = 1 then ${tools}::text::jsonb end
      from generate_series(0, ${turns * 2 - 1}) n`
})
afterAll(() => db.drop())

verifies(
  'contract-6.kept-calls',
  'tool events come with their place in the text, cut a little beyond the limit',
  async () => {
    const { messages } = await readHistory(db.sql, session, 1, { maxBytes: 1e6, maxToolText: 50 })
    expect(messages[1]).toEqual({
      position: 1,
      role: 'assistant',
      content: 'äb',
      toolEvents: [
        { end: 2, event: { type: 'tool_call', id: 'c', name: 'look', arguments: '{}', startedAt: 'then' } },
        { end: 2, event: { type: 'tool_result', id: 'c', ok: true, content: 'x'.repeat(51), durationMs: 1 } },
      ],
    })
  },
)

/** Kinds of events, and whether later model calls are told of them. */
const isTold = {
  text: false,
  reasoning: false,
  tool_call: true,
  tool_begun: false,
  tool_result: true,
  tool_asked: false,
  tool_unknown: false,
  model: false,
} satisfies { [Kind in ReplyEventKind]: Kind extends HistoryToolEvent['event']['type'] ? true : false }

verifies('contract-6.kept-calls', 'events of the kinds that a history holds are read, and no others', async () => {
  const { events } = JSON.parse(await readFile(new URL('../../fixtures/stored-json.json', import.meta.url), 'utf8'))
  const stored = replyEventKinds.map((kind, part) => ({ seq: 6, part, event: events[kind] }))
  await db.sql`
    update messages set tool_events = ${JSON.stringify(stored)}::text::jsonb where session_id = ${session} and position = 1`
  const { messages } = await readHistory(db.sql, session, 1, { maxBytes: 1e6, maxToolText: 50 })
  expect(messages[1]?.toolEvents?.map(({ event }) => event.type)).toEqual(
    replyEventKinds.filter((kind) => isTold[kind]),
  )
})

verifies('contract-6.kept-calls', 'no more is read than can be sent: tool results count, as they are cut', async () => {
  const read = async (maxBytes: number, maxToolText: number) =>
    (await readHistory(db.sql, session, turns * 2 - 1, { maxBytes, maxToolText })).messages
  expect(await read(1e6, 50)).toHaveLength(turns * 2)
  // A reply counts about 10,250 bytes: the fourth from the end is the one that goes beyond.
  const few = await read(35_000, 10_000)
  expect(few.map(({ role }) => role)).toEqual([
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
  ])
  expect(few.at(-2)?.content).toBe(`${turns * 2 - 2}`)
  expect(await read(0, 50)).toHaveLength(1)
})
