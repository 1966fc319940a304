/** Children count for the limits above them (contract section 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

let scene: TreeScene
beforeAll(async () => {
  scene = await openTreeScene()
})
afterAll(() => scene.close())

/** A desk that asks billing twice, one after the other; resolves to what its model is told of the calls. */
async function askTwice(deskFields: object, billingFields: object) {
  const name = crypto.randomUUID()
  const billing = await scene.newAgent(`billing-${name}`, billingFields)
  const desk = await scene.newAgent(`desk-${name}`, deskFields)
  await scene.toolsOf(desk, [{ agentId: billing, name: 'billing' }])
  const results: string[] = []
  const next = (step: Parameters<TreeScene['plays']>[1]) =>
    scene.plays(`desk-${name}`, (call) => {
      results.push(call.body.messages.at(-1).content)
      return step(call)
    })
  scene.plays(`desk-${name}`, asks('', asking('billing', 'First')))
  scene.plays(`billing-${name}`, says('One.'), says('Two.'))
  next(asks('', asking('billing', 'Second')))
  next(says('Done.'))
  await scene.ask(desk, 'Ask!', { user: 'ann' })
  return results
}

verifies('contract-30.child-limits', 'the user’s limits of the child’s agent refuse one, by their name', async () => {
  const [first, second] = await askTwice(
    {},
    { userLimits: { tokensPerDay: 1, requestsPerMinute: 1, concurrentReplies: 1 } },
  )
  expect(first).toBe('One.')
  expect(second).toBe('The agent was not asked: the limit of the user, 1 tokens a day, is used up.')
})

verifies(
  'contract-30.child-limits',
  'so do those of the top session’s agent; requests and replies do not count',
  async () => {
    const limits = { requestsPerMinute: 1, concurrentReplies: 1 }
    expect(await askTwice({ userLimits: { ...limits, tokensPerDay: 1000 } }, {})).toEqual(['One.', 'Two.'])
    const [first, second] = await askTwice({ userLimits: { ...limits, tokensPerDay: 1 } }, {})
    expect([first, second]).toEqual(['One.', expect.stringContaining('limit of the user, 1 tokens a day')])
  },
)
