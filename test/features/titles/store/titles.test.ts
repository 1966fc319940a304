/** Sessions without a title: found, claimed once, taken over, given up. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteSession } from '../../../../src/features/sessions/store/sessions.ts'
import { claimUntitled, postponeTitle, releaseTitle, storeTitle } from '../../../../src/features/titles/store/titles.ts'
import { failed, finished, openScene, type Scene, textAt, versions } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const claim = { claimMs: 60_000, maxText: 10 }

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())
  beforeEach(() => scene.sql`delete from sessions`)

  async function untitled(text = 'Hello, you there'): Promise<string> {
    const session = await scene.newSession()
    const reply = await scene.begin(session, { text })
    await scene.journal.append(reply, () => [textAt(2, 'Hello yourself!')])
    await scene.journal.settle(reply, finished())
    return session
  }
  const next = async () => (await claimUntitled(scene.sql, claim))?.id ?? null
  const titleOf = async (id: string) =>
    (await scene.sql<{ title: string | null }[]>`select title from sessions where id = ${id}`)[0]?.title
  const lapse = () => scene.sql`
    update sessions set title_due_at = clock_timestamp() - interval '1 second' where title_due_at < 'infinity'`

  verifies('contract-1.title-model', 'a session is due once its first reply has ended in any way', async () => {
    const session = await scene.newSession()
    expect(await next()).toBeNull()
    const reply = await scene.begin(session)
    expect(await next()).toBeNull()
    await scene.journal.settle(reply, failed())
    const { id, agentId } = { id: session, agentId: scene.agentId }
    expect(await claimUntitled(scene.sql, claim)).toEqual({
      id,
      agentId,
      attempt: 1,
      question: 'Hello',
      answer: '',
      countsFor: null,
    })
    await scene.sql`insert into sessions (agent_id, title, next_seq) values (${scene.agentId}, 'Given', 5)`
    expect(await next()).toBeNull()
  })

  verifies('contract-1.title-model', 'a claim is exclusive until it expires', async () => {
    const sessions = await Promise.all(Array.from({ length: 5 }, () => untitled()))
    const claimed = await Promise.all(Array.from({ length: 12 }, next))
    expect(claimed.filter((id) => id !== null).sort()).toEqual(sessions.sort())
    await lapse()
    const again = await claimUntitled(scene.sql, claim)
    expect(again).toMatchObject({ attempt: 2, question: 'Hello, you', answer: 'Hello your' })
  })

  verifies('contract-1.title-model', 'a title set meanwhile is kept, and the session is not due again', async () => {
    const session = await untitled()
    expect(await next()).toBe(session)
    await scene.sql`update sessions set title = 'Mine' where id = ${session}`
    await storeTitle(scene.sql, session, 'Yours')
    expect(await titleOf(session)).toBe('Mine')
    await lapse()
    expect(await next()).toBeNull()
  })

  test('a session deleted meanwhile gets no title and blocks no other', async () => {
    const session = await untitled()
    expect(await next()).toBe(session)
    await deleteSession(scene.sql, scene.agentId, session)
    for (const end of [storeTitle(scene.sql, session, 'x'), postponeTitle(scene.sql, session, 1)]) await end
    await releaseTitle(scene.sql, session)
    expect(await next()).toBeNull()
  })

  test('no title is a final result too; a postponed attempt runs later, a released one does not count', async () => {
    const session = await untitled()
    expect(await next()).toBe(session)
    await postponeTitle(scene.sql, session, 60_000)
    expect(await next()).toBeNull()
    await lapse()
    expect(await claimUntitled(scene.sql, claim)).toMatchObject({ attempt: 2 })
    await releaseTitle(scene.sql, session)
    expect(await claimUntitled(scene.sql, claim)).toMatchObject({ attempt: 2 })
    await storeTitle(scene.sql, session, null)
    await lapse()
    expect(await next()).toBeNull()
    expect(await titleOf(session)).toBeNull()
  })

  verifies('contract-35.every-call', 'it counts for those for whom the first reply counts', async () => {
    const counting = async (counts: object) => {
      const session = await untitled()
      await scene.sql`update sessions set end_user = 'ann' where id = ${session}`
      await scene.sql`
        update messages set facts = jsonb_build_object('counts', ${JSON.stringify(counts)}::text::jsonb)
         where session_id = ${session} and role = 'assistant'`
      return (await claimUntitled(scene.sql, claim))?.countsFor
    }
    expect(await counting({ key: 'k', user: true })).toEqual({ key: 'k', user: 'ann' })
    expect(await counting({ key: 'k' })).toEqual({ key: 'k', user: null })
    expect(await counting({ user: true })).toEqual({ key: null, user: 'ann' })
  })

  test('a title does not move its session to the top of the list', async () => {
    const session = await untitled()
    const at = async () => (await scene.sql`select updated_at::text from sessions where id = ${session}`)[0]
    const before = await at()
    await next()
    await storeTitle(scene.sql, session, 'Title')
    expect([await titleOf(session), await at()]).toEqual(['Title', before])
  })
})
