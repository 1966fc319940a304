/** Whose sessions feedback is given in, and the bytes of its comments (contract section 28). */
import { afterAll, expect } from 'vitest'
import { putFeedback, removeFeedback, type Score } from '../../../../src/features/feedback/store/feedback.ts'
import { noLimits } from '../../../../src/persistence/replies/sessions/storage-limits.ts'
import { finished, newAgent, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())
const { sql, agentId } = scene

/** A reply in a session of a user, as the place of the user's feedback. */
async function answered(user: string) {
  const [session] = await sql<{ id: string }[]>`
    insert into sessions (agent_id, end_user) values (${agentId}, ${user}) returning id`
  const reply = await scene.begin(session?.id ?? '')
  await scene.journal.settle(reply, finished())
  return { agentId, sessionId: reply.sessionId, messageId: reply.id, by: 'user', name: null } as const
}

verifies(
  'contract-28.feedback-refused',
  'to another agent the session is unknown, to give and to take back',
  async () => {
    const place = await answered('ann')
    const elsewhere = { ...place, agentId: await newAgent(sql) }
    const score: Score = { score: 1, comment: null }
    expect(await putFeedback(sql, place, score, noLimits)).toMatchObject(score)
    expect(await putFeedback(sql, elsewhere, { ...score, score: -1 }, noLimits)).toBe('no_session')
    expect(await removeFeedback(sql, elsewhere)).toBe('no_session')
    const other = await answered('ann')
    expect(await removeFeedback(sql, { ...place, sessionId: other.sessionId })).toBe('no_message')
    expect(await sql`select score from feedback where message_id = ${place.messageId}`).toEqual([{ score: 1 }])
  },
)

verifies('contract-28.feedback-quiet', 'the same again, with a comment or without, is nothing new', async () => {
  const place = await answered('eva')
  for (const comment of [null, 'Nice.']) {
    const given = await putFeedback(sql, place, { score: 1, comment }, noLimits)
    expect(await putFeedback(sql, place, { score: 1, comment }, null)).toEqual(given)
    expect(await putFeedback(sql, place, { score: 1, comment }, noLimits)).toEqual(given)
    expect(await putFeedback(sql, place, { score: -1, comment }, null)).toBe('new')
  }
  expect(await putFeedback(sql, place, { score: 1, comment: null }, null)).toBe('new')
})

verifies('contract-28.feedback', 'its comment counts for the session and for the user, to the byte', async () => {
  const place = await answered('bea')
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(bytes, session_bytes(id))::integer as bytes from sessions where id = ${place.sessionId}`
  const bytes = row?.bytes ?? 0
  const put = async (comment: string, limits: object) => {
    const given = await putFeedback(sql, place, { score: 1, comment }, { ...noLimits, ...limits })
    return typeof given === 'string' ? given : given.comment
  }
  expect(await put('Nüsse', { sessionBytes: bytes + 5 })).toBe('session_full')
  expect(await put('Nüsse', { userBytes: bytes + 5 })).toBe('user_full')
  expect(await put('Nüsse', { sessionBytes: bytes + 6, userBytes: bytes + 6 })).toBe('Nüsse')
  // A shorter one is taken where there is no room.
  expect(await put('Nuss', { sessionBytes: 1, userBytes: 1 })).toBe('Nuss')
})
