/** An admission whose response was lost is repeated with the reply's id (design section 4). */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { contributions } from '../../../../src/compose/contributions.ts'
import { type AdmissionOptions, admit } from '../../../../src/persistence/replies/admission/admission.ts'
import { verifies } from '../../../verifies.ts'
import { finished, openScene, type Scene, versions } from '../../scene.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  let options: AdmissionOptions
  beforeAll(async () => {
    scene = await openScene(version)
    options = { sql: scene.sql, contributions: contributions.admission, log: { warn() {} } }
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  /** Repeats the same call, as the journal does. */
  async function admission(session: string, key: string | null = null) {
    const idempotency = key === null ? null : { key, bodyHash: Buffer.from('body') }
    const message = scene.message(session, { idempotency })
    return {
      reply: message.replyId,
      call: () => admit(options, { id: scene.instance.id, epoch: 1 }, message),
    }
  }
  const messages = (session: string) => scene.sql`select id, status from messages where session_id = ${session}`

  verifies('contract-4.idempotency', 'repeated, it is admitted again and stored once', async () => {
    for (const key of [null, 'key']) {
      const session = await scene.newSession()
      const { call } = await admission(session, key)
      const first = await call()
      expect(first).toMatchObject({ outcome: 'admitted', titleFrom: expect.any(String), historyEnd: -1 })
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

  verifies(
    'contract-10.unknown-admission',
    'stored before its epoch was raised, it is never reported as not stored',
    async () => {
      const { instance } = await scene.another()
      const session = await scene.newSession()
      const message = scene.message(session)
      const call = () => admit(options, { id: instance.id, epoch: 1 }, message)
      expect(await call()).toMatchObject({ outcome: 'admitted' })
      await scene.sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
      // It can no longer write to it, so it only reads its outcome; likewise under its next epoch.
      expect(await call()).toEqual({ outcome: 'joined', replyId: message.replyId })
      expect(await admit(options, { id: instance.id, epoch: 2 }, message)).toMatchObject({
        outcome: 'joined',
      })
      const never = scene.message(session)
      expect(await admit(options, { id: instance.id, epoch: 1 }, never)).toEqual({ outcome: 'fenced' })
      expect(await messages(session)).toHaveLength(2)
    },
  )

  verifies(
    'contract-10.unknown-admission',
    'a lookup stores nothing, and waits for an admission in progress',
    async () => {
      const session = await scene.newSession()
      const message = scene.message(session)
      const owner = { id: scene.instance.id, epoch: 1 }
      const send = (mayStart: boolean) => admit(options, owner, { ...message, mayStart })
      expect(await send(false)).toEqual({ outcome: 'refused' })
      expect(await messages(session)).toHaveLength(0)
      const both = await scene.sql.begin(async (tx) => {
        await tx`select 1 from sessions where id = ${session} for update`
        const first = send(true)
        await expect.poll(scene.waiting).toBe(1)
        const look = send(false)
        await expect.poll(scene.waiting).toBe(2)
        return [first, look]
      })
      const [first, found] = await Promise.all(both)
      expect(first).toMatchObject({ outcome: 'admitted' })
      expect(found).toEqual(first)
    },
  )

  verifies('contract-8.transitions', 'repeated, it returns the idle state of its session', async () => {
    const session = await scene.newSession()
    await scene.journal.settle(await scene.begin(session), finished())
    const { call } = await admission(session)
    const first = await call()
    expect(first).toMatchObject({ outcome: 'admitted', restState: 'complete' })
    expect(await call()).toEqual(first)
  })
})
