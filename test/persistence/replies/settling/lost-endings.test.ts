/** How the replies of a lost instance end (contract sections 4, 8, 10 and 21), in the statement that ends them. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openScene, reasoningAt, type Scene, textAt } from '../../scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

/** A reply that runs, with the text of its question. */
async function running(text = 'Hello') {
  const session = await scene.newSession()
  const reply = await scene.begin(session, { text })
  return { ...reply, session }
}

/** Declares the owner of these replies lost, and ends them. */
async function lose(...ids: string[]) {
  await scene.sql`update messages set epoch = epoch - 1 where id = any(${ids}::uuid[])`
  return await scene.sql<{ id: string; question: string | null; fault: string | null }[]>`
    select reply_id as id, question, fault from lose_replies(${ids}::uuid[], ${scene.instance.id})`
}

const offer = (id: string, reason: 'shutdown' | 'boundary') => scene.sql`
  insert into handovers (reply_id, instance_id, epoch, reason)
  select id, instance_id, epoch, ${reason} from messages where id = ${id}`

verifies(
  'contract-4.owner-lost',
  'it says whether its instance was shut down or lost, and its client may ask for it again',
  async () => {
    const { sql } = scene
    const [lost, offered, stopped] = [await running(), await running(), await running()]
    await offer(offered.id, 'boundary')
    await offer(stopped.id, 'shutdown')
    await lose(lost.id, offered.id, stopped.id)
    const endOf = async ({ id }: { id: string }) =>
      (await sql`select error_code as code, requester_lost as lost from messages where id = ${id}`)[0]
    expect([await endOf(lost), await endOf(offered), await endOf(stopped)]).toEqual([
      { code: 'instance_lost', lost: true },
      { code: 'instance_lost', lost: true },
      { code: 'shutdown', lost: true },
    ])
    // Nobody goes on with what has ended.
    expect(await sql`select reason from handovers`).toEqual([])
  },
)

verifies(
  'contract-8.usage',
  'its tokens are estimated by its path and all that it said, and its frames go',
  async () => {
    const { sql } = scene
    const reply = await running('four by four chars')
    const at = reply.firstSeq
    await scene.journal.append(reply, () => [textAt(at + 1, 'eight ch'), reasoningAt(at + 2, 'four')])
    await sql`select move_frames(${scene.instance.id}, ${scene.instance.epoch()}, ${Number.MAX_SAFE_INTEGER})`
    expect(await sql`select 1 from frame_runs`).toHaveLength(1)
    await lose(reply.id)
    const [used] = await sql`
    select prompt_tokens as prompt, completion_tokens as said, estimated from token_usage where id = ${reply.id}`
    expect(used).toEqual({ prompt: 5, said: 3, estimated: true })
    expect(await sql`select 1 from frame_runs`).toHaveLength(0)
  },
)

verifies(
  'contract-25.titles',
  'its session is titled by its first question, unless it has a title that stays',
  async () => {
    const { sql } = scene
    const questionOf = async (title: string | null, isDraft: boolean) => {
      const { id, session } = await running('first')
      await sql`
      insert into messages (id, session_id, position, role, status, content)
      values (${randomUUID()}, ${session}, 9, 'user', 'complete', 'later')`
      await sql`update sessions set title = ${title}, title_is_draft = ${isDraft} where id = ${session}`
      const [ended] = await lose(id)
      return ended?.fault ?? ended?.question
    }
    expect([await questionOf(null, false), await questionOf('Draft', true), await questionOf('Own', false)]).toEqual([
      'first',
      'first',
      null,
    ])
  },
)
