/** Contract section 24: what a session is when one of its replies was deleted, wherever its other branches are. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { newId } from '../../../../src/actors/reply/new-id.ts'
import { findSession } from '../../../../src/features/sessions/store/sessions.ts'
import { deleteReply } from '../../../../src/http/wires/responses/store/delete-reply.ts'
import { verifies } from '../../../verifies.ts'
import { listMessages } from '../../list-messages.ts'
import { finished, openScene } from '../../scene.ts'
import { waits } from '../together-scene.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())
const { sql, journal } = scene
const beginning = { place: { parent: null } }

async function answered(sessionId: string, settlement = finished(), wanted = {}): Promise<string> {
  const reply = await scene.begin(sessionId, wanted)
  await journal.settle(reply, settlement)
  return reply.id
}

async function statusOf(sessionId: string): Promise<string | undefined> {
  const [row] = await sql<{ status: string }[]>`select status from sessions where id = ${sessionId}`
  return row?.status
}

verifies('contract-24.delete', 'a reply of another branch goes on running', async () => {
  const session = await scene.newSession()
  const other = await answered(session)
  const reply = await scene.begin(session, beginning)
  expect(await deleteReply(sql, session, other)).toBe('deleted')
  expect(await statusOf(session)).toBe('streaming')
  await journal.settle(reply, finished())
  expect(await statusOf(session)).toBe('complete')
})

verifies('contract-24.delete', 'calls that wait on another branch can still be decided', async () => {
  const session = await scene.newSession()
  const other = await answered(session)
  const waiting = await answered(session, waits, beginning)
  expect(await deleteReply(sql, session, other)).toBe('deleted')
  const pending = async () => (await findSession(sql, scene.agentId, session))?.pending.length
  expect([await statusOf(session), await pending()]).toEqual(['waiting', 1])
  expect(await deleteReply(sql, session, waiting)).toBe('deleted')
  expect([await statusOf(session), await pending()]).toEqual(['idle', 0])
})

verifies('contract-24.delete', 'a summary that ends with it stands for no later message', async () => {
  const session = await scene.newSession()
  await answered(session)
  const last = await answered(session)
  const place = { sessionId: session, epoch: scene.instance.epoch() }
  const usage = { promptTokens: 1, completionTokens: 1, estimated: false }
  for (const [position, summary] of [
    [1, 'of the first'],
    [3, 'of both'],
  ] as const)
    await journal.keepCheckpoint(place, { id: newId(), position, summary, model: 'm', usage })
  expect(await deleteReply(sql, session, last)).toBe('deleted')
  await answered(session, finished(), { text: 'Another.' })
  const history = await journal.history(session, 3, { maxBytes: 10_000, maxToolText: 1000 })
  expect(history.checkpoint?.summary).toBe('of the first')
  expect(history.messages.map(({ content }) => content)).toEqual(['Another.', ''])
})

verifies('contract-24.delete', 'a compaction holds the session like a reply', async () => {
  const session = await scene.newSession()
  const reply = await answered(session)
  const hold = randomUUID()
  const place = { sessionId: session, epoch: scene.instance.epoch() }
  expect(await journal.hold({ agentId: scene.agentId, sessionId: session, hold }, place.epoch)).not.toBeNull()
  expect(await deleteReply(sql, session, reply)).toBe('busy')
  await journal.release(place, hold)
  expect(await deleteReply(sql, session, reply)).toBe('deleted')
})

verifies('contract-14.tree', 'pages of all branches pass over what was deleted', async () => {
  const session = await scene.newSession()
  const replies: string[] = []
  for (let n = 0; n < 5; n++) replies.push(await answered(session, finished(), beginning))
  for (const middle of replies.slice(1, 4)) expect(await deleteReply(sql, session, middle)).toBe('deleted')
  const list = async (query = {}) =>
    ((await listMessages(sql, scene.agentId, session, { branches: 'all', ...query })) ?? []).map(({ id }) => id)
  const all = await list()
  expect(all).toHaveLength(4)
  expect(await list({ limit: 2 })).toEqual(all.slice(2))
  expect(await list({ limit: 2, before: all[2] })).toEqual(all.slice(0, 2))
  expect(await list({ limit: 2, after: all[1] })).toEqual(all.slice(2))
  expect(await list({ limit: 3 })).toEqual(all.slice(1))
  expect(await list({ before: all[2] })).toEqual(all.slice(0, 2))
  expect(await list({ after: all[1] })).toEqual(all.slice(2))
})
