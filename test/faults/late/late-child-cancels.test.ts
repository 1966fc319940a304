/** Cancels of sessions that wait for others, which arrive late (contract section 35, repeats and late arrivals). */
import { afterAll, beforeAll, expect } from 'vitest'
import { createChildStore } from '../../../src/features/children/store/children.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from '../../features/children/tree-scene.ts'
import { verifies } from '../../verifies.ts'
import { type LateSql, openLateSql } from './late-scene.ts'

const rule = 'contract-35.late-writes'

let scene: TreeScene
let late: LateSql
let desk: string
let billing: string
beforeAll(async () => {
  scene = await openTreeScene()
  late = await openLateSql(scene.app.databaseUrl)
  billing = await scene.newAgent('billing')
  desk = await scene.newAgent('desk')
  await scene.toolsOf(billing, [], { builtInToolIds: ['current_time'], approvals: ['*'] })
  await scene.toolsOf(desk, [{ agentId: billing }])
})
afterAll(async () => {
  await late[Symbol.asyncDispose]()
  await scene.close()
})

const time = { name: 'current_time', arguments: '{}' }
const pending = async (session: string) => (await scene.sessionOf(desk, session)).json.pending

/** The desk asks billing, which waits for an approval. The cancel of one of the two is held. */
async function cancelled(which: 'child' | 'top') {
  scene.plays('desk', asks('', asking('billing', 'The time?')))
  scene.plays('billing', asks('', time))
  const { session } = await scene.ask(desk, 'What time is it?')
  const [{ call_id, path }] = await pending(session)
  const store = createChildStore({
    sql: late.lateSql,
    owner: () => ({ id: '', epoch: 0 }),
    limits: { sessionBytes: 1, userBytes: null, userSessions: 1 },
    texts: { start: '', input: '' },
  })
  const held = late.hold('cancel_wait')
  await expect(store.cancel(which === 'child' ? path[0].session_id : session)).rejects.toThrow()
  await held
  const approve = () =>
    scene.call('POST', `/api/v1/agents/${desk}/deploy/sessions/${session}/actions`, {
      decisions: [{ call_id, decision: 'approve' }],
    })
  return { session, call_id, approve }
}

verifies(rule, 'one of a child that arrives when it waits anew rejects nothing', async () => {
  const { session, call_id, approve } = await cancelled('child')
  scene.plays('billing', asks('', time))
  expect((await approve()).status).toBe(200)
  await expect.poll(async () => (await pending(session))?.[0]?.call_id ?? call_id).not.toBe(call_id)
  const waiting = await pending(session)
  await late.deliver()
  expect(await pending(session)).toEqual(waiting)
})

verifies(rule, 'one of a session whose child runs by now ends no reply', async () => {
  const { approve } = await cancelled('top')
  const [runs, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  scene.plays('billing', async (call) => {
    runs.resolve()
    await goesOn.promise
    await says('Noon.')(call)
  })
  scene.plays('desk', says('It is noon.'))
  const approved = approve()
  await runs.promise
  await late.deliver()
  expect(await scene.app.sql`select reply_id from intents where kind = 'cancel'`).toEqual([])
  goesOn.resolve()
  const { status, json } = await approved
  expect([status, json.choices?.[0].message.content]).toEqual([200, 'It is noon.'])
})
