/** An admission whose answer was lost is asked for again by the reply's id (design section 4). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { finished, openScene, type Scene, versions } from './scene.ts'

interface Admitted {
  outcome: string
  reply_id: string
  first_seq: number
  reply_position: number
  created_at: Date
}

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  /** The same call each time it is called, as the journal repeats it. */
  async function admission(session: string, key: string | null = null) {
    const [user, reply] = [randomUUID(), randomUUID()]
    const hash = key === null ? null : Buffer.from('body')
    return {
      reply,
      async call(): Promise<Admitted | undefined> {
        const [row] = await scene.sql<Admitted[]>`
          select * from admit_message(${scene.instance.id}, 1, ${scene.agentId}, ${session}, ${user}, ${reply}, 'Hello',
            'test-model', false, ${key}, ${hash}, false, true)`
        return row
      },
    }
  }
  const messages = (session: string) => scene.sql`select id, status from messages where session_id = ${session}`

  verifies('contract-4.idempotency', 'asked again, it is admitted again and stored once', async () => {
    for (const key of [null, 'key']) {
      const session = await scene.newSession()
      const { call } = await admission(session, key)
      const first = await call()
      expect(first?.outcome).toBe('admitted')
      const { outcome, reply_id, first_seq, reply_position, created_at } = (await call()) ?? {}
      expect({ outcome, reply_id, first_seq, reply_position, created_at }).toEqual({
        outcome: 'admitted',
        reply_id: first?.reply_id,
        first_seq: first?.first_seq,
        reply_position: first?.reply_position,
        created_at: first?.created_at,
      })
      expect(await messages(session)).toHaveLength(2)
    }
  })

  verifies('contract-4.stored-before-shown', 'settled as a stray meanwhile, it is read, not run again', async () => {
    const session = await scene.newSession()
    const { call, reply } = await admission(session)
    await call()
    const info = (await scene.journal.read(reply, 0))?.info
    if (!info) throw new Error('not stored')
    await scene.journal.settle(info, finished())
    expect(await call()).toMatchObject({ outcome: 'joined', reply_id: reply })
    // The same when another message came after it.
    await scene.begin(session, { text: 'next' })
    expect(await call()).toMatchObject({ outcome: 'joined', reply_id: reply })
    expect(await messages(session)).toHaveLength(4)
  })
})
