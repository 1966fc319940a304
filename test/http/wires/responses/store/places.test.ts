/** What the look-up of places reads and derives for the items of an input (contract section 32). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { givenNames, partUuid } from '../../../../../src/http/wires/responses/output/ids.ts'
import { findPlaces, type Names } from '../../../../../src/http/wires/responses/store/places.ts'
import type { Sql } from '../../../../../src/persistence/postgres/database.ts'
import { openScene, type Scene } from '../../../../persistence/scene.ts'
import { verifies } from '../../../../verifies.ts'

/** Stores a message with this many calls, each with its output, as it is given with a session. */
async function givenMessage({ sql, newSession }: Scene, calls: number): Promise<string> {
  const id = randomUUID()
  await sql`
    insert into messages (id, session_id, position, role, status, content, tool_events)
    select ${id}, ${await newSession()}, 0, 'assistant', 'complete', '', jsonb_agg(e order by n, part)
      from generate_series(0, ${calls - 1}::integer) n,
           lateral (values
             (1, jsonb_build_object('seq', 1, 'part', 2 * n + 1, 'event', jsonb_build_object('type', 'tool_call', 'id', 'c' || n))),
             (2, jsonb_build_object('seq', 1, 'part', 2 * n + 2, 'event', jsonb_build_object('type', 'tool_result', 'id', 'c' || n)))
           ) as v (part, e)`
  return id
}

const given = (replyId: string, n: number) => ({
  call: givenNames(replyId)({ type: 'tool_call', id: `c${n}` }),
  output: givenNames(replyId)({ type: 'tool_result', id: `c${n}` }),
})

/** Counts the statements that are sent through it. */
function counted(sql: Sql): { sql: Sql; sent: () => number } {
  let sent = 0
  const apply: ProxyHandler<Sql>['apply'] = (target, self, args) => {
    sent += 1
    return Reflect.apply(target, self, args)
  }
  return { sql: new Proxy(sql, { apply }), sent: () => sent }
}

const find = (sql: Sql, names: Partial<Names>) =>
  findPlaces(sql, { response: null, conversation: null, items: [], ...names }, () => true)

verifies('contract-32.named-ids', 'ids are looked up in one statement, however many they are', async () => {
  await using scene = await openScene()
  const sessionId = await scene.newSession()
  const [one, other] = [await scene.begin(sessionId), await scene.begin(await scene.newSession())]
  const { sql, sent } = counted(scene.sql)
  const items = [one.id, ...Array.from({ length: 2000 }, () => randomUUID())]
  const { itemOf, response, conversation } = await find(sql, { response: other.id, conversation: sessionId, items })
  expect(await itemOf(one.id)).toMatchObject({ kind: 'text', place: { replyId: one.id, sessionId, position: 1 } })
  for (const id of items.slice(1)) expect(await itemOf(id)).toBeUndefined()
  expect(response).toMatchObject({ replyId: other.id, status: 'streaming', position: 1 })
  expect(conversation).toMatchObject({ replyId: null, sessionId, position: 1 })
  expect(sent()).toBe(1)
})

verifies('contract-32.named-ids', 'the parts of a given message are read when one is asked for, once', async () => {
  await using scene = await openScene()
  const id = await givenMessage(scene, 3)
  const { call, output } = given(id, 2)
  const unknown = partUuid(id, 'call:c3')
  const { sql, sent } = counted(scene.sql)
  const { itemOf } = await find(sql, { items: [id, call, output, unknown] })
  expect((await itemOf(id))?.place.replyId).toBe(id)
  expect(sent()).toBe(1)
  expect(await itemOf(call)).toMatchObject({ kind: 'tool_call', place: { replyId: id } })
  expect(await itemOf(output)).toMatchObject({ kind: 'tool_result', place: { replyId: id } })
  expect(await itemOf(unknown)).toBeUndefined()
  expect(sent()).toBe(2)
})

verifies('contract-32.named-ids', 'what a request has derived is bounded, whatever its ids may belong to', async () => {
  await using scene = await openScene()
  const replies: string[] = []
  for (let n = 0; n < 4; n++) replies.push(await givenMessage(scene, 4000))
  const items = replies.map((id) => partUuid(id, 'no part'))
  const last = replies.map((id) => given(id, 3999).output)
  const first = await find(scene.sql, { items })
  expect((await first.itemOf(last[3] ?? ''))?.place.replyId).toBe(replies[3])
  const behindOthers = await find(scene.sql, { items })
  for (const id of items.slice(0, 3)) expect(await behindOthers.itemOf(id)).toBeUndefined()
  expect(await behindOthers.itemOf(last[3] ?? '')).toBeUndefined()
  expect((await behindOthers.itemOf(last[0] ?? ''))?.place.replyId).toBe(replies[0])
})
