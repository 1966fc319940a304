/** Steps of replies that are stored late (contract section 35, repeats and late arrivals). */
import { expect } from 'vitest'
import type { TransitionRecord } from '../../../src/actors/ports/index.ts'
import { recordTransitions } from '../../../src/features/traces/store/transitions.ts'
import { createTransitionRecorder } from '../../../src/features/traces/transitions.ts'
import { verifies } from '../../verifies.ts'
import { type LateScene, openLateScene } from './late-scene.ts'

const rule = 'contract-35.late-writes'

async function openRecorder(late: LateScene) {
  const { instance, newSession } = late.scene
  const [sessionId, messageId] = [await newSession(), crypto.randomUUID()]
  const store = {
    record: (batch: readonly TransitionRecord[]) => recordTransitions(late.lateSql, instance.id, batch),
  }
  const recorder = createTransitionRecorder(store, () => {})
  const note = (event: string): TransitionRecord => {
    const step = { sessionId, messageId, at: new Date(), from: 'streaming.generating', to: 'streaming.generating' }
    const noted: TransitionRecord = { ...step, event, detail: {}, kind: 'note' }
    recorder.record(noted)
    return noted
  }
  const stored = async () => {
    const rows = await late.scene.sql<{ event: string; detail: unknown }[]>`
      select event, detail from steps where session_id = ${sessionId} order by seq`
    return rows.map(({ event, detail }) => [event, detail])
  }
  return { sessionId, recorder, note, stored }
}

verifies(rule, 'steps whose first write arrives late stand in the trace once', async () => {
  await using late = await openLateScene()
  const { recorder, note, stored } = await openRecorder(late)
  const held = late.hold('record_steps')
  const begun = note('attempt')
  await recorder.flush()
  await held
  // Steps that follow meanwhile change no row that may be stored.
  note('tool')
  expect(recorder.amend(begun, { detail: { ok: true } })).toBe(false)
  await recorder.flush()
  await late.deliver()
  expect(await stored()).toEqual([
    ['attempt', {}],
    ['tool', {}],
  ])
})

verifies(rule, 'nor do steps whose first write is carried out beside the second', async () => {
  await using late = await openLateScene()
  const { sessionId, recorder, note, stored } = await openRecorder(late)
  const held = late.hold('record_steps')
  note('attempt')
  await recorder.flush()
  await held
  let writes: Promise<unknown>[] = []
  await late.scene.sql.begin(async (tx) => {
    // The first waits here once it has looked for rows.
    await tx`select from sessions where id = ${sessionId} for update`
    writes = [late.deliver()]
    await expect.poll(late.scene.waiting).toBe(1)
    writes.push(recorder.flush())
    await expect.poll(late.scene.waiting).toBe(2)
  })
  await Promise.all(writes)
  expect(await stored()).toEqual([['attempt', {}]])
})
