/** A flush by either of its statements: fenced, stored once, and aware of intents (design section 4). */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest'
import { connect } from '../../../../src/persistence/postgres/database.ts'
import type { ReplyFrames } from '../../../../src/persistence/replies/settling/stored-reply.ts'
import { createFlushes } from '../../../../src/persistence/replies/writing/flushes.ts'
import { endSharedApps } from '../../../support/app.ts'
import { storedFrames } from '../../../support/frames.ts'
import { verifies } from '../../../verifies.ts'
import { type Instance, openScene, type Scene, textAt, versions } from '../../scene.ts'

beforeAll(endSharedApps)

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  let instance: Instance
  let flushes: ReturnType<typeof createFlushes>
  let asked = 0
  let frames: ReplyFrames
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())
  beforeEach(async () => {
    // The clock is frozen: the first flush checks for intents, later ones do not.
    vi.useFakeTimers({ toFake: ['performance'] })
    instance = (await scene.another()).instance
    asked = 0
    flushes = createFlushes({
      connectWriter: () => connect(scene.database.url, { max: 1, name: 'writer', timeoutMs: 0 }),
      instance,
      flushTimeoutMs: 60_000,
      onIntents: () => {
        asked += 1
      },
    })
    frames = { reply: await scene.begin(await scene.newSession()), events: [textAt(2, 'a'), textAt(3, 'b')] }
  })
  afterEach(async () => {
    vi.useRealTimers()
    await flushes.end()
  })

  const stored = async () => (await storedFrames(scene.sql, frames.reply.sessionNum)).length
  let num = 0
  const flush = (epoch: number, batch = [frames]) => {
    num += 1
    return flushes.store(batch, { num, epoch, maybeStored: false })
  }
  const raiseEpoch = () => scene.sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
  const nothing = () => flush(1, [])

  verifies(
    'contract-4.fencing',
    'an instance that was declared lost stores nothing, with or without the check for intents',
    async () => {
      await raiseEpoch()
      expect(await flush(1)).toBe('fenced')
      expect(await flush(1)).toBe('fenced')
      expect(await stored()).toBe(0)
      expect(await flush(2)).toBe('stored')
      expect(await stored()).toBe(2)
    },
  )

  verifies('contract-4.fencing', 'a flush waits for a declaration in progress, and is fenced by it', async () => {
    await nothing()
    const raised = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const declared = scene.sql.begin(async (sql) => {
      await sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
      raised.resolve()
      await release.promise
    })
    await raised.promise
    const late = flush(1)
    await expect.poll(scene.waiting).toBe(1)
    release.resolve()
    await declared
    expect(await late).toBe('fenced')
    expect(await stored()).toBe(0)
  })

  verifies('contract-4.fencing', 'frames that may be stored already are stored once', async () => {
    await nothing()
    expect(await flush(1)).toBe('stored')
    expect(await flushes.store([frames], { num, epoch: 1, maybeStored: true })).toBe('stored')
    expect(await stored()).toBe(2)
  })

  verifies('contract-4.cancel', 'flushes check for intents ten times a second', async () => {
    await scene.sql`
      insert into intents (instance_id, kind, session_id) values (${instance.id}, 'delete', ${randomUUID()})`
    await flush(1)
    expect(asked).toBe(1)
    for (const seq of [4, 5, 6]) await flush(1, [{ ...frames, events: [textAt(seq, 'c')] }])
    expect(asked).toBe(1)
    vi.advanceTimersByTime(100)
    await flush(1, [{ ...frames, events: [textAt(7, 'd')] }])
    expect(asked).toBe(2)
    expect(await stored()).toBe(6)
  })
})
