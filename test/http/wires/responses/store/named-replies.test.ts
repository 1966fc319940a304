/** What a look for the replies that an input names reads and derives (contract section 32). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { callUuid, givenNames, partUuid } from '../../../../../src/http/wires/responses/output/ids.ts'
import { namedReplies } from '../../../../../src/http/wires/responses/store/named-replies.ts'
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

const isOwn = () => true

verifies('contract-32.named-ids', 'ids are looked up in one statement, however many they are', async () => {
  await using scene = await openScene()
  const one = await scene.begin(await scene.newSession())
  const { sql, sent } = counted(scene.sql)
  const ids = [one.id, ...Array.from({ length: 2000 }, () => randomUUID())]
  const named = await namedReplies(sql, { agentId: scene.agentId, isOwn }, ids)
  expect((await named.byPart(one.id))?.id).toBe(one.id)
  for (const id of ids.slice(1)) expect(await named.byPart(id)).toBeUndefined()
  expect(sent()).toBe(1)
})

verifies('contract-32.named-ids', 'the parts of a given message are read when one is asked for, once', async () => {
  await using scene = await openScene()
  const id = await givenMessage(scene, 3)
  const { call, output } = given(id, 2)
  const unknown = partUuid(id, 'call:c3')
  const { sql, sent } = counted(scene.sql)
  const named = await namedReplies(sql, { agentId: scene.agentId, isOwn }, [id, call, output, unknown])
  expect((await named.byPart(id))?.id).toBe(id)
  expect(await named.byCall(callUuid(id, 'c2'))).toBeUndefined()
  expect(sent()).toBe(1)
  expect((await named.byPart(call))?.id).toBe(id)
  expect((await named.byGivenOutput(output))?.id).toBe(id)
  expect(await named.byGivenOutput(call)).toBeUndefined()
  expect(await named.byPart(unknown)).toBeUndefined()
  expect(sent()).toBe(2)
})

verifies('contract-32.named-ids', 'what a request has derived is bounded, whatever its ids may belong to', async () => {
  await using scene = await openScene()
  const replies: string[] = []
  for (let n = 0; n < 4; n++) replies.push(await givenMessage(scene, 4000))
  const unknown = replies.map((id) => partUuid(id, 'no part'))
  const find = () => namedReplies(scene.sql, { agentId: scene.agentId, isOwn }, unknown)
  const last = replies.map((id) => given(id, 3999).output)
  const first = await find()
  expect((await first.byPart(last[3] ?? ''))?.id).toBe(replies[3])
  const behindOthers = await find()
  for (const id of unknown.slice(0, 3)) expect(await behindOthers.byPart(id)).toBeUndefined()
  expect(await behindOthers.byPart(last[3] ?? '')).toBeUndefined()
  expect((await behindOthers.byPart(last[0] ?? ''))?.id).toBe(replies[0])
})
