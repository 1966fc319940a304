/** An admission whose answer was lost is asked for again by the reply's id (design section 4). */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { admit } from '../../src/persistence/replies/admission.ts'
import { verifies } from '../verifies.ts'
import { finished, openScene, type Scene, versions } from './scene.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  /** The same call each time it is called, as the journal repeats it. */
  async function admission(session: string, key: string | null = null) {
    const idempotency = key === null ? null : { key, bodyHash: Buffer.from('body') }
    const message = scene.message(session, { idempotency })
    return {
      reply: message.replyId,
      call: () => admit(scene.sql, { id: scene.instance.id, epoch: 1 }, message, { warn() {} }),
    }
  }
  const messages = (session: string) => scene.sql`select id, status from messages where session_id = ${session}`

  verifies('contract-4.idempotency', 'asked again, it is admitted again and stored once', async () => {
    for (const key of [null, 'key']) {
      const session = await scene.newSession()
      const { call } = await admission(session, key)
      const first = await call()
      expect(first).toMatchObject({ outcome: 'admitted', untitled: true, position: 1 })
      expect(await call()).toEqual(first)
      expect(await messages(session)).toHaveLength(2)
    }
  })

  verifies('contract-4.stored-before-shown', 'settled as an orphan meanwhile, it is read, not run again', async () => {
    const session = await scene.newSession()
    const { call, reply } = await admission(session)
    await call()
    const info = (await scene.journal.read(reply, 0))?.info
    if (!info) throw new Error('not stored')
    await scene.journal.settle(info, finished())
    expect(await call()).toMatchObject({ outcome: 'joined', replyId: reply })
    // The same when another message came after it.
    await scene.begin(session, { text: 'next' })
    expect(await call()).toMatchObject({ outcome: 'joined', replyId: reply })
    expect(await messages(session)).toHaveLength(4)
  })
})
