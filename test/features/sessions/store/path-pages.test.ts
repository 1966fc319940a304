/** Contract section 14: lists of messages follow the path, however often it turns, and whatever part of it is asked for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MessagePlace } from '../../../../src/actors/ports/index.ts'
import type { MessageQuery } from '../../../../src/features/sessions/store/message-list.ts'
import type { Message } from '../../../../src/features/sessions/store/message-rows.ts'
import { connect } from '../../../../src/persistence/postgres/database.ts'
import { listMessages } from '../../../persistence/list-messages.ts'
import { finished, openScene, type Scene, versions } from '../../../persistence/scene.ts'
import { seededRandom } from '../../../support/random.ts'
import { verifies } from '../../../verifies.ts'

/** More than a line stores of those before it. */
const TURNS = 100

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const list = async (session: string, query?: MessageQuery): Promise<Message[]> =>
    (await listMessages(scene.sql, scene.agentId, session, query)) ?? []
  const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id)

  async function say(session: string, place?: MessagePlace): Promise<string> {
    const reply = await scene.begin(session, place ? { place } : {})
    await scene.journal.settle(reply, finished())
    return reply.id
  }

  /** A path that turns at each reply, beside branches that lead nowhere. */
  async function winding(session: string, random: () => number): Promise<void> {
    let tip = await say(session)
    for (let n = 0; n < TURNS; n++) {
      await say(session, random() < 0.5 ? { parent: tip } : { regenerate: tip })
      if (random() < 0.3) await say(session)
      tip = await say(session, random() < 0.7 ? { parent: tip } : { regenerate: tip })
    }
  }

  /** By the parents that the list of all branches names. */
  async function pathByParents(session: string): Promise<string[]> {
    const all = new Map((await list(session, { branches: 'all' })).map((message) => [message.id, message]))
    const [row] = await scene.sql<{ id: string }[]>`
      select m.id from sessions s join messages m on m.session_id = s.id and m.position = s.head where s.id = ${session}`
    const path: string[] = []
    for (let at = row?.id; at != null; at = all.get(at)?.parentId ?? undefined) path.unshift(at)
    return path
  }

  verifies('contract-14.tree', 'a path of many turns, read whole and in pages', async () => {
    const random = seededRandom('path-pages')
    const sessions = await Promise.all(Array.from({ length: 3 }, () => scene.newSession()))
    await Promise.all(sessions.map((session) => winding(session, random)))
    const check = async (session: string) => {
      const path = await pathByParents(session)
      const whole = await list(session)
      expect(idsOf(whole)).toEqual(path)
      expect(whole.map(({ parentId }) => parentId)).toEqual([null, ...path.slice(0, -1)])
      const at = Math.floor(random() * path.length)
      const cursor = path[at] ?? ''
      expect(idsOf(await list(session, { limit: 7 }))).toEqual(path.slice(-7))
      expect(idsOf(await list(session, { before: cursor, limit: 7 }))).toEqual(path.slice(Math.max(0, at - 7), at))
      expect(idsOf(await list(session, { after: cursor, limit: 7 }))).toEqual(path.slice(at + 1, at + 8))
      expect(idsOf(await list(session, { before: cursor }))).toEqual(path.slice(0, at))
      const rest = await list(session, { after: cursor })
      expect(idsOf(rest)).toEqual(path.slice(at + 1))
      expect(rest.map(({ parentId }) => parentId)).toEqual(path.slice(at, -1))
    }
    for (const session of sessions) await check(session)
    const [most] = await scene.sql<{ lines: number }[]>`select max(cardinality(lines_before)) as lines from messages`
    expect(most).toEqual({ lines: 128 })
  })

  test('pages of a straight session', async () => {
    const session = await scene.newSession()
    expect(await list(session, { limit: 3 })).toEqual([])
    for (let n = 0; n < 4; n++) await say(session)
    const all = idsOf(await list(session))
    expect(all).toHaveLength(8)
    expect(idsOf(await list(session, { limit: 3 }))).toEqual(all.slice(5))
    expect(idsOf(await list(session, { limit: 100 }))).toEqual(all)
    expect(idsOf(await list(session, { before: all[4] ?? '', limit: 3 }))).toEqual(all.slice(1, 4))
    expect(idsOf(await list(session, { before: all[2] ?? '', limit: 3 }))).toEqual(all.slice(0, 2))
    expect(idsOf(await list(session, { after: all[4] ?? '', limit: 2 }))).toEqual(all.slice(5, 7))
    expect(idsOf(await list(session, { after: all[6] ?? '', limit: 2 }))).toEqual(all.slice(7))
    expect(await list(session, { after: all[7] ?? '' })).toEqual([])
    expect(await list(session, { before: all[0] ?? '' })).toEqual([])
  })

  test('times are cut to milliseconds, in UTC', async () => {
    const session = await scene.newSession()
    await say(session)
    await say(session)
    const seconds = ['05', '05.1', '05.123999', '59.000999']
    for (const [position, second] of seconds.entries()) {
      const at = `2026-01-02T03:04:${second}Z`
      await scene.sql`
        update messages set created_at = ${at}::text::timestamptz where session_id = ${session} and position = ${position}`
    }
    const sql = connect(scene.database.url, { name: 'elsewhere', max: 1, timeoutMs: 0 })
    await sql`set time zone 'Asia/Kathmandu'`
    await sql`set datestyle = 'German'`
    const times = (await listMessages(sql, scene.agentId, session))?.map(({ createdAt }) => createdAt)
    await sql.end()
    expect(times).toEqual(['05.000', '05.100', '05.123', '59.000'].map((second) => `2026-01-02T03:04:${second}Z`))
  })
})
