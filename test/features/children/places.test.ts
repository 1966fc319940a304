/** How many children run at a time, and how many a message leads to (contract section 30). */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

const scene = await openTreeScene()
afterAll(scene.close)

verifies('contract-30.child-places', 'at all depths together, in the order of the calls', async () => {
  const ledger = await scene.newAgent('ledger')
  const billing = await scene.newAgent('billing')
  const desk = await scene.newAgent('desk', { generationConfig: { maxToolCalls: 100 } })
  await scene.toolsOf(billing, [{ agentId: ledger }])
  await scene.toolsOf(desk, [{ agentId: ledger }, { agentId: billing }])
  const calls = Array.from({ length: 98 }, (_, n) => asking('ledger', `${n}`))
  let running = 0
  let most = 0
  const counted: Parameters<TreeScene['plays']>[1] = async (call) => {
    most = Math.max(most, ++running)
    await call.text('Counted.')
    running -= 1
    await call.finish()
  }
  scene.plays('ledger', ...Array<typeof counted>(calls.length + 1).fill(counted))
  scene.plays('billing', asks('', ...['a', 'b', 'c'].map((message) => asking('ledger', message))))
  let told: string[] = []
  scene.plays('billing', (call) => {
    told = call.body.messages.slice(-3).map(({ content }: { content: string }) => content)
    return says('Enough.')(call)
  })
  scene.plays('desk', asks('', ...calls, asking('billing', 'More!')), says('Done.'))
  const { session, reply } = await scene.ask(desk, 'All!')
  expect(reply.json.choices[0].message.content).toBe('Done.')
  expect(most).toBeLessThanOrEqual(8 + 8) // of the desk, and of billing
  expect(told.filter((content) => content === 'Counted.')).toHaveLength(1)
  expect(told.filter((content) => content.includes('at most 100 calls'))).toHaveLength(2)
  const begun = await scene.app.sql<{ place: number }[]>`
    select c.place from children c join messages m on m.id = c.reply_id
     where c.parent_session = ${session} order by m.created_at`
  const inOrder = begun.map(({ place }) => place)
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b))
  expect(inOrder).toHaveLength(99)
})
