/** Contract sections 14 and 15: a version that knows neither branches nor approvals runs beside this one during an upgrade. */
import { afterAll, beforeAll, expect } from 'vitest'
import type { NewMessage } from '../../src/actors/ports/index.ts'
import { verifies } from '../verifies.ts'
import { finished, openScene, type Scene } from './scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

/** As the version before sends it: it names neither a place nor that it knows of any. */
async function oldAdmission(message: NewMessage) {
  const { agentId, sessionId, replyId, text, model } = message
  const wanted = {
    agent_id: agentId,
    session_id: sessionId,
    user_id: crypto.randomUUID(),
    reply_id: replyId,
    model,
    include_usage: false,
    is_retry: false,
    may_start: true,
    make_session: false,
  }
  const [row] = await scene.sql<{ answer: { outcome: string; position?: number } }[]>`
    select admit_message(${scene.instance.id}, 1, ${JSON.stringify(wanted)}::text::jsonb, ${text}) as answer`
  return row?.answer
}

verifies(
  'contract-14.older-versions',
  'it goes on in straight sessions, and is refused where the path has turned',
  async () => {
    const session = await scene.newSession()
    const first = await scene.begin(session)
    await scene.journal.settle(first, finished())
    // It reads the history before `position - 1`, which is the path.
    const old = scene.message(session)
    expect(await oldAdmission(old)).toMatchObject({ outcome: 'admitted', position: 3 })
    const info = (await scene.journal.read(old.replyId, 0))?.info
    if (info) await scene.journal.settle(info, finished())
    const edited = await scene.begin(session, { place: { parent: null } })
    await scene.journal.settle(edited, finished())
    expect(await oldAdmission(scene.message(session))).toEqual({ outcome: 'refused' })
    expect(await scene.journal.admit(scene.message(session))).toMatchObject({
      outcome: 'admitted',
      parentId: edited.id,
      historyEnd: 5,
    })
  },
)

verifies('contract-15.older-versions', 'it is refused where somebody must be asked, or is being asked', async () => {
  const session = await scene.newSession()
  const approvals = (names: string) =>
    scene.sql`update agents set approvals = ${names}::text::jsonb where id = ${scene.agentId}`
  await approvals('["pay"]')
  expect(await oldAdmission(scene.message(session))).toEqual({ outcome: 'refused' })
  await approvals('[]')
  const asks = await scene.begin(session)
  await scene.journal.settle(asks, finished())
  await scene.sql`update messages set finish_reason = 'tool_calls' where id = ${asks.id}`
  expect(await oldAdmission(scene.message(session))).toEqual({ outcome: 'refused' })
  expect(await scene.journal.admit(scene.message(session))).toMatchObject({ outcome: 'admitted', restState: 'waiting' })
})
