/** Which reads of sessions leave an entry (contract section 33). */
import { afterAll, beforeEach, expect } from 'vitest'
import {
  forgetTitlesRead,
  noteSessionReads,
  type ReadSessions,
  tidySessionReads,
} from '../../../../src/features/audit/store/session-reads.ts'
import { newAgent, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())
const { sql, agentId } = scene
beforeEach(async () => {
  await sql`delete from session_reads`
  await sql`delete from audit_entries`
})

async function sessionOf(user: string | null, agent = agentId): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into sessions (agent_id, end_user, title) values (${agent}, ${user}, 'Words') returning id`
  return row?.id ?? ''
}
const read = (reader: string, sessions: ReadSessions) =>
  noteSessionReads(sql, { reader, origin: { actor: reader, actorKind: 'login', ip: null, requestId: null } }, sessions)
const entries = async () =>
  (
    await sql<{ actor: string; id: string; name: string | null }[]>`
      select actor, record_id as id, record_name as name from audit_entries where action = 'read' order by num`
  ).map(({ actor, id, name }) => [actor, id, name])

verifies('contract-33.reads', 'one for each person, session and hour; none for a session of nobody', async () => {
  const [one, other, nobodys] = [await sessionOf('ann'), await sessionOf('bob'), await sessionOf(null)]
  await read('root', { sessionIds: [one, nobodys] })
  await read('root', { sessionIds: [one] })
  await read('eve', { sessionIds: [one, other, one] })
  const first = [
    ['root', one, 'Words'],
    ['eve', one, 'Words'],
    ['eve', other, 'Words'],
  ]
  expect(await entries()).toEqual(first)
  await tidySessionReads(sql)
  await read('root', { sessionIds: [one] })
  expect(await entries()).toEqual(first)
  await sql`update session_reads set hour = hour - interval '1 hour' where reader = 'root'`
  await read('root', { sessionIds: [one] })
  expect(await entries()).toEqual([...first, ['root', one, 'Words']])
  await tidySessionReads(sql)
  expect(await sql`select 1 from session_reads`).toHaveLength(3)
})

verifies('contract-33.reads', 'a message is read in its session, where that is the agent’s', async () => {
  const { sessionId, id: replyId } = await scene.begin(await sessionOf('ann'))
  await read('root', { messageIds: [replyId], agentId: await newAgent(sql) })
  expect(await entries()).toEqual([])
  await read('root', { messageIds: [replyId], agentId })
  expect(await entries()).toEqual([['root', sessionId, 'Words']])
})

verifies(
  'contract-33.reads',
  'a deletion of a user takes the titles of this user’s sessions with this agent',
  async () => {
    const [mine, theirs, elsewhere] = [
      await sessionOf('ann'),
      await sessionOf('bob'),
      await sessionOf('ann', await newAgent(sql)),
    ]
    await read('root', { sessionIds: [mine, theirs, elsewhere] })
    await forgetTitlesRead(sql, agentId, 'ann')
    expect(await entries()).toEqual([
      ['root', mine, null],
      ['root', theirs, 'Words'],
      ['root', elsewhere, 'Words'],
    ])
  },
)
