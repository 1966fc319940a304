/** Children count for the limits above them (contract section 30). */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says, type TreeScene } from './tree-scene.ts'

const scene = await openTreeScene()
afterAll(scene.close)

/** A desk that asks billing twice, one after the other; resolves to what its model is told of the calls. */
async function askTwice(
  deskFields: object,
  billingFields: object,
  { key, price }: { key?: string; price?: number } = {},
) {
  const name = crypto.randomUUID()
  const billing = await scene.newAgent(`billing-${name}`, billingFields)
  const desk = await scene.newAgent(`desk-${name}`, deskFields)
  await scene.toolsOf(desk, [{ agentId: billing, name: 'billing' }])
  const results: string[] = []
  if (price !== undefined) {
    const prices = [{ model: `billing-${name}`, prompt: price, completion: price }]
    await scene.call('PUT', '/api/v1/settings/prices', { currency: '$', prices })
  }
  const next = (step: Parameters<TreeScene['plays']>[1]) =>
    scene.plays(`desk-${name}`, (call) => {
      results.push(call.body.messages.at(-1).content)
      return step(call)
    })
  scene.plays(`desk-${name}`, asks('', asking('billing', 'First')))
  scene.plays(`billing-${name}`, says('One.'), says('Two.'))
  next(asks('', asking('billing', 'Second')))
  next(says('Done.'))
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const sessions = `/api/v1/agents/${desk}/deploy/sessions`
  const { id } = (await scene.call('POST', sessions, { user: 'ann' }, headers)).json
  const say = { messages: [{ role: 'user', content: 'Ask!' }] }
  const { status, text } = await scene.call('POST', `${sessions}/${id}/chat/completions`, say, headers)
  expect(status, text).toBe(200)
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

verifies('contract-30.child-limits', 'the key of the top session’s reply counts their tokens alone', async () => {
  const newKey = async (limits: object) =>
    (await scene.call('POST', '/api/v1/keys', { name: 'K', scopes: ['deploy'], limits })).json.key
  const requests = { requestsPerMinute: 1, concurrentReplies: 1 }
  const key = await newKey({ ...requests, tokensPerDay: 1 })
  expect(await askTwice({}, {}, { key })).toEqual([
    'One.',
    'The agent was not asked: the limit of the key, 1 tokens a day, is used up.',
  ])
  expect(await askTwice({}, {}, { key: await newKey({ ...requests, tokensPerDay: 1_000_000 }) })).toEqual([
    'One.',
    'Two.',
  ])
})

verifies('contract-30.child-limits', 'so does their cost, for the key and for the users', async () => {
  const usedUp = (of: string) => `The agent was not asked: the limit of the ${of}, a cost of 1 a month, is used up.`
  const limits = { costPerMonth: 1 }
  const { key } = (await scene.call('POST', '/api/v1/keys', { name: 'C', scopes: ['deploy'], limits })).json
  const dear = { price: 1_000_000 }
  expect(await askTwice({}, {}, { key, ...dear })).toEqual(['One.', usedUp('key')])
  expect(await askTwice({}, { userLimits: limits }, dear)).toEqual(['One.', usedUp('user')])
  expect(await askTwice({ userLimits: limits }, {}, dear)).toEqual(['One.', usedUp('user')])
  expect(await askTwice({ userLimits: limits }, { userLimits: limits }, { price: 0.01 })).toEqual(['One.', 'Two.'])
})

verifies('contract-30.child-limits', 'each reply’s use is its own, and counts under its own agent', async () => {
  const name = crypto.randomUUID()
  const billing = await scene.newAgent(`billing-${name}`)
  const desk = await scene.newAgent(`desk-${name}`)
  await scene.toolsOf(desk, [{ agentId: billing, name: 'billing' }])
  const using = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens })
  scene.plays(
    `desk-${name}`,
    async (call) => {
      await call.toolCall(asking('billing', 'First'))
      await call.finish('tool_calls', using(10, 1))
    },
    (call) => call.finish('stop', using(20, 2)),
  )
  scene.plays(`billing-${name}`, (call) => call.finish('stop', using(100, 50)))
  const { reply } = await scene.ask(desk, 'Ask!')
  expect(reply.json.usage).toMatchObject({ prompt_tokens: 30, completion_tokens: 3 })
  const usageOf = async (id: string) =>
    (await scene.call('GET', '/api/v1/usage')).json.rows.find(({ key }: { key: string }) => key === id)
  await expect.poll(() => usageOf(desk)).toMatchObject({ replies: 1, promptTokens: 30, completionTokens: 3 })
  await expect.poll(() => usageOf(billing)).toMatchObject({ replies: 1, promptTokens: 100, completionTokens: 50 })
})
