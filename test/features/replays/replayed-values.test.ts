/** Contract section 28: the values, the tools and the replies that one case is made of. */
import { afterAll, beforeAll, expect } from 'vitest'
import { asks, look, openToolScene, says, startToolServer, type ToolScene } from '../../http/tool-scene.ts'
import { verifies } from '../../verifies.ts'

let scene: ToolScene
let tools: Awaited<ReturnType<typeof startToolServer>>
let tool = ''
const inputSchema = { type: 'object', properties: { q: { type: 'string' } } }

beforeAll(async () => {
  tools = await startToolServer(({ url }) => `saw ${url.searchParams.get('q')}`)
  scene = await openToolScene({ system: 'Helpful.' })
  tool = await scene.createTool({ name: 'look', url: `${tools.url}/?q={{q}}`, inputSchema })
})
afterAll(async () => {
  await scene.close()
  await tools[Symbol.asyncDispose]()
})

const all = () => `${scene.agent}/replays`
const newSession = async (body: object): Promise<string> => (await scene.call('POST', scene.sessions, body)).json.id
const newest = async (session: string): Promise<string> => (await scene.messages(session)).at(-1).id
const liveVersion = async (): Promise<number> => (await scene.call('GET', scene.agent)).json.version

async function replay(version: number, replies: readonly string[] | { limit: number }) {
  const { json } = await scene.call('POST', all(), { version, replies, concurrency: 1 })
  const read = async () => (await scene.call('GET', `${all()}/${json.id}?limit=100`)).json
  await expect.poll(async () => (await read()).status).toBe('complete')
  return await read()
}

verifies(
  'contract-28.replay-values',
  'the values are those of each reply’s admission, whatever has changed since; costs are summed',
  async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } }
    scene.says(['Fine.'], { usage })
    const prices = [{ model: 'test-model', prompt: 1_000_000, completion: 1_000_000, cachedPrompt: 500_000 }]
    const priced = await scene.call('PUT', '/api/v1/settings/prices', { currency: '$', prices })
    expect(priced.status).toBe(200)
    const session = await newSession({ user: 'ada', metadata: { plan: 'free' } })
    const change = async (plan: string) =>
      expect((await scene.call('PATCH', `${scene.sessions}/${session}`, { metadata: { plan } })).status).toBe(200)
    const replies: string[] = []
    for (const plan of ['basic', 'pro', 'gold']) {
      await scene.send(session, `before ${plan}`)
      replies.push(await newest(session))
      await change('between')
      await change(plan)
    }
    const rows = await scene.app.sql`select metadata from session_values where session_id = ${session} order by until`
    expect(rows.map(({ metadata }) => metadata.plan)).toEqual(['free', 'basic', 'pro'])
    await scene.send(session, 'the last')
    replies.push(await newest(session))
    await scene.call('PUT', scene.agent, { systemPrompt: '{{session.user}} {{session.metadata.plan}} {{session.id}}' })
    const before = scene.up.calls.length
    const replayed = await replay(await liveVersion(), replies)
    expect(replayed).toMatchObject({
      cost: 40,
      usage: { promptTokens: 40, completionTokens: 8 },
      counts: { complete: 4 },
    })
    expect(replayed.cases[0]).toMatchObject({ old: { cost: 10 }, new: { cost: 10 } })
    expect(scene.up.calls.slice(before).map(({ body }) => body.messages[0].content)).toEqual(
      ['free', 'basic', 'pro', 'gold'].map((plan) => `ada ${plan} ${session}`),
    )
  },
)

verifies(
  ['contract-28.replay-acts-not', 'contract-28.replay'],
  'a tool that is renamed stays the same, another of its name is another; decisions are part of the case',
  async () => {
    await scene.choose({ httpToolIds: [tool], approvals: ['look'] })
    const session = await newSession({})
    scene.up.always(async (call) => {
      await (call.body.messages.at(-1).role === 'tool' ? says('done') : asks('', look('a', 'c1')))(call)
    })
    await scene.send(session, 'look at a')
    const first = await newest(session)
    const decisions = [{ call_id: 'c1', decision: 'approve' }]
    await scene.call('POST', `${scene.sessions}/${session}/actions`, { decisions })
    const reply = await newest(session)
    const requests = tools.requests.length
    expect([requests, reply === first]).toEqual([1, false])

    const fields = { description: 'Looks.', method: 'GET', url: `${tools.url}/?q={{q}}`, inputSchema }
    await scene.call('PUT', `/api/v1/http-tools/${tool}`, { ...fields, name: 'see' })
    scene.up.always(async (call) => {
      const { name } = call.body.tools[0].function
      const last = call.body.messages.at(-1)
      await (last.role === 'tool' ? says(`${name}: ${last.content}`) : asks('', { ...look('a'), name }))(call)
    })
    const [renamed] = (await replay(await liveVersion(), [reply])).cases
    expect(renamed).toMatchObject({
      status: 'complete',
      question: 'look at a',
      new: { content: expect.stringMatching(/^see: [\s\S]*saw a$/), toolCalls: [{ name: 'see' }] },
      old: { content: 'done', toolCalls: [{ name: 'look' }], finishReason: 'stop' },
    })
    const chain = (await scene.shown(session)).filter(({ role }) => role === 'assistant')
    const sum = chain.reduce((all, { usage }) => all + usage.promptTokens, 0)
    expect([chain.length, renamed.old.usage.promptTokens]).toEqual([2, sum])
    const { cases } = await replay(await liveVersion(), { limit: 200 })
    const ids: string[] = cases.map(({ messageId }: { messageId: string }) => messageId)
    expect([ids.includes(reply), ids.includes(first)]).toEqual([true, false])

    const other = await scene.createTool({ name: 'look', url: `${tools.url}/?q={{q}}`, inputSchema })
    await scene.choose({ httpToolIds: [other] })
    const [diverged] = (await replay(await liveVersion(), [reply])).cases
    expect(diverged).toMatchObject({ status: 'diverged', divergence: { name: 'look', position: 0 } })
    expect(tools.requests).toHaveLength(requests)
  },
)

verifies('contract-28.replay-values', 'a question on a branch is asked behind its own path', async () => {
  await scene.choose({ httpToolIds: [] })
  scene.says(['Fine.'])
  const session = await newSession({})
  await scene.send(session, 'first')
  const [, answer] = await scene.messages(session)
  await scene.send(session, 'one way')
  await scene.send(session, 'the other way', { parent_id: answer.id })
  const asked = scene.up.calls.at(-1)?.body.messages
  await replay(await liveVersion(), [await newest(session)])
  expect(scene.up.calls.at(-1)?.body.messages).toEqual(asked)
})
