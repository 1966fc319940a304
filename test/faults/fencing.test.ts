/** An instance that was declared lost cannot write another byte (contract section 4). */
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { declareSilent, readLeases } from '../../src/coordination/leases/lost-instances.ts'
import { listTransitions, recordTransitions } from '../../src/features/traces/store/transitions.ts'
import { connect, type Sql } from '../../src/persistence/postgres/database.ts'
import { listMessages } from '../persistence/list-messages.ts'
import { finished, openScene, type Scene, textAt, toolCallAt, versions } from '../persistence/scene.ts'
import { storedFrames } from '../support/frames.ts'
import { verifies } from '../verifies.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  let second: Sql
  beforeAll(async () => {
    scene = await openScene(version)
    second = connect(scene.database.url, { max: 4, name: 'second', timeoutMs: 0 })
  })
  afterAll(async () => {
    await second.end()
    await scene[Symbol.asyncDispose]()
  })

  const bump = (sql: Sql, id: string) => sql`update instances set epoch = epoch + 1 where id = ${id}`
  const framesOf = (num: number) => storedFrames(scene.sql, num)

  verifies(
    'contract-4.fencing',
    'after the epoch was raised nothing is appended or settled under the old one',
    async () => {
      const { instance, journal } = await scene.another()
      const session = await scene.newSession()
      const admission = await journal.admit(scene.message(session))
      if (admission.outcome !== 'admitted') throw new Error(admission.outcome)
      const { reply } = admission
      expect(await journal.append(reply, () => [textAt(2, 'before')])).toBe('stored')
      await bump(scene.sql, instance.id)
      expect(await journal.append(reply, () => [textAt(3, ' after')])).toBe('fenced')
      expect(await journal.settle(reply, finished())).toEqual({ result: 'fenced' })
      // It learns its new epoch; the old one stays fenced.
      instance.believed += 1
      expect(await journal.append(reply, () => [textAt(3, ' after')])).toBe('fenced')
      expect(await journal.settle(reply, finished())).toEqual({ result: 'fenced' })
      expect(await journal.read(reply.id, 0)).toMatchObject({ outcome: null, events: [textAt(2, 'before')] })
      // A reply of the new epoch is stored in the same flush as an old one that is not.
      const fresh = await journal.admit(scene.message(await scene.newSession()))
      if (fresh.outcome !== 'admitted') throw new Error(fresh.outcome)
      const both = [
        journal.append(reply, () => [textAt(3, 'x')]),
        journal.append(fresh.reply, () => [textAt(2, 'new')]),
      ]
      expect(await Promise.all(both)).toEqual(['fenced', 'stored'])
    },
  )

  verifies('contract-4.fencing', 'declaring a loss waits for a flush in progress', async () => {
    const { instance, journal } = await scene.another()
    const admission = await journal.admit(scene.message(await scene.newSession()))
    if (admission.outcome !== 'admitted') throw new Error(admission.outcome)
    const { reply } = admission
    // The flush locks the instance's row and then waits for a row locked by another transaction.
    const held = Promise.withResolvers<void>()
    const taken = Promise.withResolvers<void>()
    const blocker = second.begin(async (tx) => {
      await tx`
        insert into flushes (instance_id, epoch, num, session_nums, seqs, parts, texts)
        values (${instance.id}, 1, 1, '{}', '{}', '{}', '{}')`
      taken.resolve()
      await held.promise
      throw new Error('rolled back')
    })
    await taken.promise
    const order: string[] = []
    const flush = journal.append(reply, () => [textAt(2, 'mine')]).then((verdict) => order.push(`flush ${verdict}`))
    await expect.poll(scene.waiting).toBe(1)
    const loss = bump(second, instance.id).then(() => order.push('bump'))
    await expect.poll(scene.waiting).toBe(2)
    await turn()
    expect(order).toEqual([])
    held.resolve()
    await Promise.all([blocker.catch(() => {}), flush, loss])
    // It was stored before the loss was declared, so the settlement includes it.
    expect(order.toSorted()).toEqual(['bump', 'flush stored'])
    await scene.sql`select lose_replies(array[${reply.id}::uuid], ${scene.instance.id})`
    expect((await journal.read(reply.id, 0))?.events).toEqual([textAt(2, 'mine')])
  })

  verifies('contract-4.fencing', 'a flush during the declaration of the loss waits, and stores nothing', async () => {
    const { instance, journal } = await scene.another()
    const admission = await journal.admit(scene.message(await scene.newSession()))
    if (admission.outcome !== 'admitted') throw new Error(admission.outcome)
    const { reply } = admission
    const verdicts: Promise<unknown>[] = []
    await second.begin(async (tx) => {
      await tx`update instances set epoch = epoch + 1 where id = ${instance.id}`
      verdicts.push(journal.append(reply, () => [textAt(2, 'x')]))
      verdicts.push(journal.settle(reply, finished()))
      verdicts.push(journal.admit(scene.message(reply.sessionId, { text: 'other' })))
      await expect.poll(scene.waiting).toBeGreaterThanOrEqual(3)
    })
    expect(await Promise.all(verdicts)).toEqual(['fenced', { result: 'fenced' }, { outcome: 'fenced' }])
    expect(await framesOf(reply.sessionNum)).toHaveLength(0)
  })

  verifies('contract-4.owner-lost', 'an instance that is just writing delays no declaration but its own', async () => {
    const [writing, silent] = [(await scene.another()).instance, (await scene.another()).instance]
    const judge = { sql: second, id: scene.instance.id, log: { warn() {}, info() {} } }
    const judged = (await readLeases(judge)).filter(({ id }) => id === writing.id || id === silent.id)
    expect(judged).toHaveLength(2)
    const epochOf = async ({ id }: { id: string }) =>
      (await scene.sql<{ epoch: number }[]>`select epoch from instances where id = ${id}`)[0]?.epoch
    const { declared } = await second.begin(async (tx) => {
      await tx`select 1 from instances where id = ${writing.id} and epoch = 1 for key share` // as a write does
      const declared = declareSilent(judge, judged)
      await expect.poll(() => epochOf(silent)).toBe(2)
      expect(await epochOf(writing)).toBe(1)
      return { declared }
    })
    expect((await declared).toSorted()).toEqual([writing.id, silent.id].toSorted())
  })

  verifies('contract-10.loss-without-clocks', 'a declaration does nothing where the lease has changed', async () => {
    const { instance } = await scene.another()
    const judge = { sql: second, id: scene.instance.id, log: { warn() {}, info() {} } }
    const judged = (await readLeases(judge)).filter(({ id }) => id === instance.id)
    await scene.sql`update instances set lease = lease + 1 where id = ${instance.id}` // it renews
    expect(await declareSilent(judge, judged)).toEqual([])
    const rows = await scene.sql`select epoch, lost_at from instances where id = ${instance.id}`
    expect(rows).toMatchObject([{ epoch: 1, lost_at: null }])
  })

  verifies(
    'contract-4.owner-lost',
    'a lost reply keeps what is stored, is an error, and its session continues',
    async () => {
      const { instance, journal } = await scene.another()
      const session = await scene.newSession()
      const admission = await journal.admit(scene.message(session))
      if (admission.outcome !== 'admitted') throw new Error(admission.outcome)
      const { reply } = admission
      await journal.append(reply, () => [textAt(2, 'half '), toolCallAt(2, 1, 'c'), textAt(3, 'said')])
      const lose = async () => {
        return await scene.sql<{ reply_id: string; question: string | null; fault: string | null }[]>`
          select reply_id, question, fault from lose_replies(array[${reply.id}::uuid], ${scene.instance.id})`
      }
      // Impossible while its owner holds its epoch.
      expect(await lose()).toEqual([])
      expect((await journal.read(reply.id, 0))?.outcome).toBeNull()
      await bump(scene.sql, instance.id)
      expect(await lose()).toEqual([{ reply_id: reply.id, question: 'Hello', fault: null }]) // it has no title yet
      expect(await lose()).toEqual([])
      const stored = await journal.read(reply.id, 0)
      expect(stored?.events).toEqual([textAt(2, 'half '), toolCallAt(2, 1, 'c'), textAt(3, 'said')])
      expect(stored?.outcome).toMatchObject({ type: 'failed', error: { code: 'instance_lost' } })
      const [, message] = (await listMessages(scene.sql, scene.agentId, session)) ?? []
      expect(message).toMatchObject({ content: 'half said', status: 'error', finishReason: 'error' })
      // role 1, texts 2 and 3, error 4
      expect((await scene.begin(session)).firstSeq).toBe(5)
    },
  )

  verifies('contract-4.owner-lost', 'transitions that a dead owner did not record are recorded once', async () => {
    const { instance, journal } = await scene.another()
    const session = await scene.newSession()
    await scene.journal.settle(await scene.begin(session), finished())
    const admission = await journal.admit(scene.message(session))
    if (admission.outcome !== 'admitted') throw new Error(admission.outcome)
    const { reply } = admission
    await bump(scene.sql, instance.id)
    const lose = () => scene.sql`select lose_replies(array[${reply.id}::uuid], ${scene.instance.id})`
    await Promise.all([lose(), lose()])
    const steps = async (id: string) =>
      (await listTransitions(scene.sql, id, { limit: 20, offset: 0 }))?.items.map(({ from, to, event }) => [
        from,
        to,
        event,
      ])
    expect(await steps(session)).toEqual([
      ['complete', 'streaming.generating', 'message'],
      ['streaming.generating', 'error', 'lost'],
    ])
    // One recorded by the owner is not recorded again.
    const other = await scene.newSession()
    instance.believed += 1
    const again = await journal.admit(scene.message(other))
    if (again.outcome !== 'admitted') throw new Error(again.outcome)
    const step = { sessionId: other, at: new Date(), from: 'idle', to: 'streaming.generating', event: 'message' }
    await recordTransitions(scene.sql, instance.id, [{ ...step, messageId: again.reply.id, detail: {} }])
    await bump(scene.sql, instance.id)
    await scene.sql`select lose_replies(array[${again.reply.id}::uuid], ${scene.instance.id})`
    expect(await steps(other)).toEqual([
      ['idle', 'streaming.generating', 'message'],
      ['streaming.generating', 'error', 'lost'],
    ])
  })
})
