/** A conversation after items were given and taken back (contract section 32). */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import type { GivenMessage } from '../../../../../src/actors/ports/index.ts'
import {
  giveMessages,
  type Shortened,
  type ToGive,
  takeBack,
} from '../../../../../src/http/wires/responses/store/conversation-items.ts'
import { noLimits, type StorageLimits } from '../../../../../src/persistence/replies/sessions/storage-limits.ts'
import { finished, openScene } from '../../../../persistence/scene.ts'
import { verifies } from '../../../../verifies.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())
const { sql } = scene

const said = (content: string): GivenMessage => ({ role: 'user', content })
const keyed = (key: string, body: string) => ({ key, bodyHash: Buffer.from(body) })
const headOf = async (sessionId: string): Promise<string | null> => {
  const [row] = await sql<{ id: string }[]>`
    select m.id from messages m join sessions s on s.id = m.session_id
     where s.id = ${sessionId} and m.position = coalesce(s.head, (select max(position) from messages where session_id = s.id))`
  return row?.id ?? null
}
async function give(sessionId: string, wanted: Partial<ToGive> = {}, limits: Partial<StorageLimits> = {}) {
  const given = { sessionId, messages: [said('x')], title: null, after: await headOf(sessionId), idempotency: null }
  return await giveMessages(sql, { ...given, ...wanted }, { ...noLimits, ...limits })
}
async function take(sessionId: string, changes: readonly Shortened[], call: string | null = null) {
  return await takeBack(sql, sessionId, { changes, call })
}
const takeHead = async (sessionId: string) => take(sessionId, [{ id: (await headOf(sessionId)) ?? '', rest: null }])
/** Returns a session's row. Its bytes are those that its parts have. */
async function sessionOf(id: string) {
  const [row] = await sql<{ bytes: number; counted: number; title: string; status: string }[]>`
    select bytes::integer, session_bytes(id)::integer as counted, title, status from sessions where id = ${id}`
  expect(row?.bytes).toBe(row?.counted)
  return row
}
const age = (hours: number) => sql`
  update idempotency_keys set created_at = created_at - make_interval(hours => ${hours})`

verifies('contract-32.items-repeated', 'a key is kept for 24 hours, and anew when it is used again', async () => {
  const id = await scene.newSession()
  const first = await give(id, { idempotency: keyed('k', 'one') })
  expect(await give(id, { idempotency: keyed('k', 'one') })).toEqual({ ...first, outcome: 'repeated' })
  await age(25)
  const second = await give(id, { idempotency: keyed('k', 'other') })
  expect(second.outcome).toBe('given')
  expect(await give(id, { idempotency: keyed('k', 'other') })).toEqual({ ...second, outcome: 'repeated' })
})

verifies('contract-32.items-repeated', 'items that were taken back are given again with their key', async () => {
  const id = await scene.newSession()
  await give(id, { idempotency: keyed('k', 'one') })
  expect(await takeHead(id)).toBe('taken')
  expect((await give(id, { idempotency: keyed('k', 'one') })).outcome).toBe('given')
})

verifies('contract-32.items', 'they count with what the session and its user hold; a title stays', async () => {
  const id = await scene.newSession()
  await sql`update sessions set end_user = 'ann' where id = ${id}`
  const ten = { messages: [said('0123456789')], title: 'First' }
  await give(id, ten)
  await give(id, { ...ten, title: 'Second' }, { sessionBytes: 20, userBytes: 20 })
  expect(await sessionOf(id)).toMatchObject({ bytes: 20, title: 'First' })
  expect(await give(id, {}, { sessionBytes: 20 })).toEqual({ outcome: 'session_full' })
  expect(await give(id, {}, { userBytes: 20 })).toEqual({ outcome: 'user_full' })
  await takeHead(id)
  expect(await sessionOf(id)).toMatchObject({ bytes: 10 })
})

verifies(
  'contract-32.items-held',
  'while a message is queued or a compaction runs nothing is given or taken',
  async () => {
    const id = await scene.newSession()
    await give(id)
    await sql`update sessions set queued = 1 where id = ${id}`
    expect([(await give(id)).outcome, await takeHead(id)]).toEqual(['busy', 'busy'])
    await sql`update sessions set queued = 0 where id = ${id}`
    const compaction = (epoch: number) => sql`
    update sessions set compaction = jsonb_build_object('instance_id', ${scene.instance.id}::text, 'epoch', ${epoch}::integer)
     where id = ${id}`
    await compaction(scene.instance.epoch())
    expect([(await give(id)).outcome, await takeHead(id)]).toEqual(['busy', 'busy'])
    await compaction(scene.instance.epoch() - 1) // its instance was lost
    expect([(await give(id)).outcome, await takeHead(id)]).toEqual(['given', 'taken'])
  },
)

verifies('contract-32.items-taken', 'what belongs to a message goes with it', async () => {
  const id = await scene.newSession()
  const content = Buffer.alloc(32, 7)
  await sql`insert into part_contents (sha256, size) values (${content}, 100)`
  const part = {
    type: 'file',
    sha256: content.toString('hex'),
    mediaType: 'text/plain',
    filename: 'a',
    size: 100,
  } as const
  const read = async function* () {}
  const storedParts = [{ ...part, detail: null, sourceUrl: null, place: 0, read }]
  await give(id, { messages: [said('kept'), { ...said('gone'), storedParts }] })
  for (const position of [0, 1])
    await sql`
      insert into checkpoints (id, session_id, position, summary, model, prompt_tokens, completion_tokens, usage_estimated)
      values (${randomUUID()}, ${id}, ${position}, 'S', 'm', 1, 1, false)`
  expect(await takeHead(id)).toBe('taken')
  expect(await sessionOf(id)).toMatchObject({ bytes: 'keptS'.length })
  expect(await sql`select position from checkpoints where session_id = ${id}`).toEqual([{ position: 0 }])
  expect(await sql`select 1 from part_contents where sha256 = ${content}`).toEqual([])
})

verifies('contract-32.items-taken', 'what a shortened reply’s request brought besides counts no more', async () => {
  const id = await scene.newSession()
  const reply = await scene.begin(id)
  await scene.journal.settle(reply, finished())
  const hash = 'ab'.repeat(32)
  await sql`insert into session_texts (session_id, hash, content, bytes) values (${id}, decode(${hash}, 'hex'), '{}', 50)`
  await sql`update messages set facts = jsonb_build_object('kept', jsonb_build_object('tools', ${hash}::text)) where id = ${reply.id}`
  expect(await take(id, [{ id: reply.id, rest: { role: 'assistant', content: 'less' } }])).toBe('taken')
  expect(await sessionOf(id)).toMatchObject({ bytes: 'Helloless'.length })
})

verifies(
  'contract-32.items-taken',
  'a session whose calls were answered rests when what followed them goes',
  async () => {
    const id = await scene.newSession()
    const reply = await scene.begin(id)
    await scene.journal.settle(reply, finished())
    await sql`update messages set finish_reason = 'tool_calls' where id = ${reply.id}`
    for (const [place, call] of ['c1', 'c2'].entries())
      await sql`
      insert into waiting_calls (reply_id, place, session_id, call_id, name, arguments, kind, open)
      values (${reply.id}, ${place + 1}, ${id}, ${call}, 'look', '{}', 'caller', false)`
    await give(id)
    expect(await takeHead(id)).toBe('taken')
    expect(await sessionOf(id)).toMatchObject({ status: 'complete' })
    expect(await take(id, [{ id: reply.id, rest: { role: 'assistant', content: 'a' } }], 'c2')).toBe('taken')
    expect(await sql`select call_id from waiting_calls where session_id = ${id}`).toEqual([{ call_id: 'c1' }])
  },
)
