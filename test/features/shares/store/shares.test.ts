/** Whose shares are listed and revoked, and which of those that are read are over (contract section 31). */
import { afterAll, expect } from 'vitest'
import {
  createShare,
  deleteShare,
  endSharesOf,
  findShare,
  listShares,
  sharesOver,
} from '../../../../src/features/shares/store/shares.ts'
import { newAgent, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())
const { sql, agentId } = scene
const other = await newAgent(sql)

/** A share of a session of its own. */
async function shared(user: string, agent = agentId) {
  const [session] = await sql<{ id: string }[]>`
    insert into sessions (agent_id, end_user) values (${agent}, ${user}) returning id`
  const at = { agent_id: agent, session_id: session?.id ?? '' }
  const made = await sql.begin((tx) => createShare(tx, at, { live: true, include: [], expiresAt: null }))
  if (typeof made === 'string') throw new Error(made)
  return { at, id: made.id, token: made.token, sessionId: made.sessionId }
}
const isThere = async ({ token }: { token: string }) => (await findShare(sql, token)) !== null

verifies('contract-31.shares', 'below another agent the session is unknown', async () => {
  const { at, id, token } = await shared('ann')
  const elsewhere = { ...at, agent_id: other }
  const fields = { live: true, include: [], expiresAt: null }
  expect(await sql.begin((tx) => createShare(tx, elsewhere, fields))).toBe('no session')
  expect(await listShares(sql, elsewhere)).toBeNull()
  expect(await sql.begin((tx) => deleteShare(tx, elsewhere, id))).toBe(false)
  const another = await shared('ann')
  expect(await sql.begin((tx) => deleteShare(tx, another.at, id))).toBe(false)
  expect((await listShares(sql, at))?.map((one) => one.id)).toEqual([id])
  expect(await isThere({ token })).toBe(true)
})

verifies(
  'contract-31.share-secrets',
  'revoking a user ends the shares of this user with this agent alone',
  async () => {
    const [mine, theirs, elsewhere] = [await shared('bob'), await shared('eve'), await shared('bob', other)]
    await sql.begin((tx) => endSharesOf(tx, agentId, 'bob'))
    expect([await isThere(mine), await isThere(theirs), await isThere(elsewhere)]).toEqual([false, true, true])
  },
)

verifies(
  'contract-31.share-streams',
  'what is revoked or expired is over; what went with its session is not',
  async () => {
    const [good, revoked, expired, gone] = [await shared('a'), await shared('a'), await shared('a'), await shared('a')]
    await sql`delete from shares where id = ${revoked.id}`
    await sql`update shares set expires_at = clock_timestamp() where id = ${expired.id}`
    await sql`delete from sessions where id = ${gone.sessionId}`
    expect((await findShare(sql, expired.token))?.isExpired).toBe(true)
    const over = await sharesOver(
      sql,
      [good, revoked, expired, gone].map(({ id, sessionId }) => ({ id, sessionId })),
    )
    expect(new Map(over.map(({ id, isExpired }) => [id, isExpired]))).toEqual(
      new Map([
        [revoked.id, false],
        [expired.id, true],
      ]),
    )
  },
)
