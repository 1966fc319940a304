/** Which replies a replay takes, what its rows sum up to, and whose they are (contract section 28). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect } from 'vitest'
import { judgeCase, listCases } from '../../../../src/features/replays/store/cases.ts'
import {
  cancelReplay,
  createReplay,
  findReplay,
  repliesOf,
  selectReplies,
} from '../../../../src/features/replays/store/replays.ts'
import { finished, newAgent, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())
const { sql, agentId, journal } = scene
beforeEach(() => sql`delete from sessions`)

const timeOf = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))

async function sessionOf(agent = agentId): Promise<string> {
  const [row] = await sql<{ id: string }[]>`insert into sessions (agent_id) values (${agent}) returning id`
  return row?.id ?? ''
}

/** A reply that was made in this minute. */
async function replied(minute: number, session?: string, agent = agentId): Promise<string> {
  const reply = await scene.begin(session ?? (await sessionOf(agent)), { agentId: agent })
  await journal.settle(reply, finished())
  await sql`update messages set created_at = ${timeOf(minute)} where id = ${reply.id}`
  return reply.id
}

const rate = (message: string, score: 1 | -1) => sql`
  insert into feedback (message_id, given_by, name, session_id, agent_id, model, score)
  select m.id, 'user', '', m.session_id, ${agentId}, '', ${score} from messages m where m.id = ${message}`

verifies('contract-28.replay', 'it takes the newest replies of the agent that match, and no others', async () => {
  const [bad, good, plain] = [await replied(1), await replied(2), await replied(3)]
  await rate(bad, -1)
  await rate(good, 1)
  // Of those that continue each other the last one is the reply.
  const session = await sessionOf()
  const [asked, followed] = [await replied(4, session), await replied(5, session)]
  await sql`update messages set continues = ${asked} where id = ${followed}`
  const running = await scene.begin(await sessionOf())
  const other = await replied(6, undefined, await newAgent(sql))
  const copied = randomUUID()
  await sql`
    insert into messages (id, session_id, position, role, content, status, created_at)
    values (${copied}, ${await sessionOf()}, 0, 'assistant', 'given', 'complete', ${timeOf(7)})`
  const select = (wanted: Partial<Parameters<typeof selectReplies>[2]> = {}) =>
    selectReplies(sql, agentId, { limit: 50, ...wanted })
  expect(await select()).toEqual([followed, plain, good, bad])
  expect(await select({ limit: 2 })).toEqual([followed, plain])
  expect(await select({ since: timeOf(2) })).toEqual([followed, plain, good])
  expect([await select({ feedback: 'up' }), await select({ feedback: 'down' })]).toEqual([[good], [bad]])
  expect(await select({ feedback: 'any', since: timeOf(2) })).toEqual([good])
  const states = await repliesOf(sql, agentId, [asked, running.id, other, copied])
  expect([...states].toSorted()).toEqual(
    [
      [asked, 'ended'],
      [running.id, 'running'],
    ].toSorted(),
  )
})

/** A replay of these replies that does not run. */
async function replayOf(replies: readonly string[]): Promise<string> {
  const given = { agentId, version: 1, held: {}, concurrency: 1, createdBy: 'ann', replies }
  const { id } = await sql.begin((tx) => createReplay(tx, given))
  await sql`update replays set status = 'complete' where id = ${id}`
  return id
}

verifies(
  'contract-28.replay',
  'its usage and cost are those of its cases; one without a price has no cost',
  async () => {
    const replies = [await replied(3), await replied(1), await replied(2)]
    const id = await replayOf(replies)
    expect((await listCases(sql, id, { limit: 2, offset: 1 })).items.map(({ messageId }) => messageId)).toEqual(
      replies.slice(1),
    )
    const ends = (nth: number, status: string, cost: number | null) => sql`
    update replay_cases
       set status = ${status}, new = ${JSON.stringify({ usage: { promptTokens: 5, completionTokens: 2 }, cost })}::text::json
     where replay_id = ${id} and message_id = ${replies[nth] ?? ''}`
    await ends(0, 'complete', 0.25)
    expect(await findReplay(sql, agentId, id)).toMatchObject({
      counts: { total: 3, pending: 2, complete: 1, diverged: 0 },
      usage: { promptTokens: 5, completionTokens: 2 },
      cost: 0.25,
      createdBy: 'ann',
    })
    await ends(1, 'diverged', 0.5)
    expect(await findReplay(sql, agentId, id)).toMatchObject({ usage: { promptTokens: 10 }, cost: 0.75 })
    await ends(2, 'complete', null)
    expect(await findReplay(sql, agentId, id)).toMatchObject({ counts: { complete: 2, diverged: 1 }, cost: null })
    expect(await findReplay(sql, await newAgent(sql), id)).toBeNull()
  },
)

verifies('contract-28.replay', 'a verdict is that of a case of its replay', async () => {
  const reply = await replied(1)
  const [one, other] = [await replayOf([reply]), await replayOf([reply])]
  await judgeCase(sql, { replayId: one, messageId: reply }, { verdict: 'worse', comment: 'No.' })
  const verdicts = async (id: string) => (await listCases(sql, id, { limit: 9, offset: 0 })).items[0]?.verdict
  expect([await verdicts(one), await verdicts(other)]).toEqual(['worse', null])
})

verifies('contract-28.replay', 'a cancel ends what has not ended, and nothing of a replay that has', async () => {
  const [first = '', second = ''] = [await replied(1), await replied(2)]
  const id = await replayOf([first, second])
  const states = async () => {
    const cases = (await listCases(sql, id, { limit: 9, offset: 0 })).items.map(({ status }) => status)
    return [(await findReplay(sql, agentId, id))?.status, ...cases]
  }
  await sql`update replay_cases set status = 'complete' where replay_id = ${id} and message_id = ${first}`
  await cancelReplay(sql, id)
  expect(await states()).toEqual(['complete', 'complete', 'pending'])
  await sql`update replays set status = 'running' where id = ${id}`
  await cancelReplay(sql, id)
  expect(await states()).toEqual(['cancelled', 'complete', 'cancelled'])
})
