/** Contract section 20: values of the session in prompts and tools, from the request to what is sent. */
import { afterAll, beforeAll, expect } from 'vitest'
import { startMcpServer } from '../../support/network/mcp-servers.ts'
import { verifies } from '../../verifies.ts'
import { asks, openToolScene, says, startToolServer, type ToolScene } from '../tool-scene.ts'

const system = 'You serve {{session.user}} on plan {{session.metadata.plan|free}}. It is {{now.date}}. {{unrelated}}'
let scene: ToolScene
let orders: Awaited<ReturnType<typeof startToolServer>>
beforeAll(async () => {
  scene = await openToolScene({ settings: {}, system })
  orders = await startToolServer(() => 'two orders')
})
afterAll(async () => {
  await scene.close()
  await orders[Symbol.asyncDispose]()
})

const newSession = async (fields: object): Promise<string> => (await scene.call('POST', scene.sessions, fields)).json.id
const lastSent = () => scene.up.calls.at(-1)?.body.messages
const today = () => new Date().toISOString().slice(0, 10)

const ordersTool = () => ({
  name: 'orders',
  url: `${orders.url}/users/{{session.user}}?plan={{session.metadata.plan|none}}&q={{q}}`,
  method: 'POST',
  headers: { 'X-Session': '{{session.id}}', 'X-Api-Key': 'for {{session.user}}' },
  body: '{"user": "{{session.user}}", "at": {{now.time}}}',
  inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
})

verifies(
  'contract-20.prompts',
  'the prompt names user, metadata and day; both ways of admission tell them',
  async () => {
    scene.says(['Hi.'])
    const ann = await newSession({ user: 'ann', metadata: { plan: 'gold' } })
    await scene.send(ann, 'Hi')
    expect(lastSent()[0]).toEqual({
      role: 'system',
      content: `You serve ann on plan gold. It is ${today()}. {{unrelated}}`,
    })
    await scene.send(await newSession({}), 'Hi')
    expect(lastSent()[0].content).toBe(`You serve  on plan free. It is ${today()}. {{unrelated}}`)
    // Many at once go by admit_messages.
    const before = scene.up.calls.length
    const many = await Promise.all(Array.from({ length: 12 }, (_, n) => newSession({ user: `user-${n}` })))
    await Promise.all(many.map((id) => scene.send(id, 'Hi')))
    const told = scene.up.calls.slice(before).map(({ body }) => /serve (\S*) on/.exec(body.messages[0].content)?.[1])
    expect(told.sort()).toEqual(many.map((_, n) => `user-${n}`).sort())
  },
)

verifies('contract-20.prompts', 'a caller’s instructions are no template: their braces reach the model', async () => {
  scene.says(['Hi.'])
  const append = (callerInstructions: string | null) => scene.call('PUT', scene.agent, { callerInstructions })
  await append('append')
  const probe = 'Repeat {{session.user}}, {{session.metadata.plan}} and {{now.date}}.'
  const messages = [
    { role: 'system', content: probe },
    { role: 'user', content: 'Hi' },
  ]
  const prompt = (plan: string) => `You serve ann on plan ${plan}. It is ${today()}. {{unrelated}}\n\n${probe}`
  const ann = await newSession({ user: 'ann', metadata: { plan: 'gold' } })
  await scene.send(ann, '', { messages })
  expect(lastSent()[0]).toEqual({ role: 'system', content: prompt('gold') })
  await scene.stateless(messages, { user: 'ann' })
  expect(lastSent()[0]).toEqual({ role: 'system', content: prompt('free') })
  await append(null)
})

verifies('contract-20.as-sent', 'what a reply’s model was sent shows the prompt as it was sent', async () => {
  scene.says(['Hi.'])
  const id = await newSession({ user: 'zoe', metadata: { plan: 'silver' } })
  await scene.send(id, 'Hi')
  const reply = (await scene.messages(id)).at(-1)
  const shown = async () => (await scene.call('GET', `/api/v1/debug/replies/${reply.id}/requests`)).json.requests
  await expect.poll(async () => (await shown()).length).toBe(1)
  expect((await shown())[0].body.messages).toEqual(lastSent())
})

verifies('contract-20.tools', 'a tool acts for the session’s user in address, headers and body', async () => {
  await scene.choose({ httpToolIds: [await scene.createTool(ordersTool())] })
  const id = await newSession({ user: 'ann/b', metadata: { plan: 'gold' } })
  scene.up.next(asks('', { name: 'orders', arguments: '{"q":"shoes","session.user":"bob"}' }))
  scene.up.next(says('Two.'))
  await scene.send(id, 'My orders?')
  const { url, body, request } = orders.requests.at(-1) ?? {}
  expect(url?.pathname).toBe('/users/ann%2Fb')
  expect(url?.search).toBe('?plan=gold&q=shoes')
  expect(request?.headers).toMatchObject({ 'x-session': id, 'x-api-key': 'for ann/b' })
  expect(JSON.parse(body ?? '')).toEqual({ user: 'ann/b', at: expect.stringMatching(/^20\d\d-.*T\d\d:\d\d:\d\dZ$/) })
})

verifies('contract-20.tools', 'for nobody it is not called, and the model is told which value is missing', async () => {
  await scene.choose({ httpToolIds: [await scene.createTool(ordersTool())] })
  const before = orders.requests.length
  scene.up.next(asks('', { name: 'orders', arguments: '{"q":"x"}' }))
  scene.up.next(says('I cannot.'))
  await scene.send(await newSession({}), 'My orders?')
  expect(lastSent().at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('session.user is missing') })
  expect(orders.requests).toHaveLength(before)
})

verifies(
  'contract-20.admission',
  'a change of the metadata while a reply runs does not reach its later turns',
  async () => {
    await scene.choose({ httpToolIds: [await scene.createTool(ordersTool())] })
    const id = await newSession({ user: 'ann', metadata: { plan: 'gold' } })
    scene.up.next(async (call) => {
      await scene.call('PATCH', `${scene.sessions}/${id}`, { metadata: { plan: 'changed' } })
      await asks('', { name: 'orders', arguments: '{"q":"1"}' })(call)
    })
    scene.up.next(says('Done.'))
    await scene.send(id, 'My orders?')
    expect(orders.requests.at(-1)?.url.search).toBe('?plan=gold&q=1')
    expect(lastSent()[0].content).toContain('plan gold')
    scene.says(['Hi.'])
    await scene.send(id, 'And now?')
    expect(lastSent()[0].content).toContain('plan changed')
  },
)

verifies('contract-20.stateless', 'the user is the request’s, named as ignored; the session is missing', async () => {
  scene.says(['Hi.'])
  const { headers } = await scene.stateless([{ role: 'user', content: 'Hi' }], { user: 'eve' })
  expect(headers.get('x-greenroom-ignored')).toContain('user')
  expect(lastSent()[0].content).toBe(`You serve eve on plan free. It is ${today()}. {{unrelated}}`)
  const before = orders.requests.length
  await scene.choose({ httpToolIds: [await scene.createTool(ordersTool())] })
  scene.up.next(asks('', { name: 'orders', arguments: '{"q":"x"}' }))
  scene.up.next(says('I cannot.'))
  await scene.stateless([{ role: 'user', content: 'Orders?' }], { user: 'eve' })
  expect(lastSent().at(-1).content).toContain('session.id is missing')
  expect(orders.requests).toHaveLength(before)
})

verifies('contract-20.tools', 'in a test of the tool the session is missing, and the time is there', async () => {
  const id = await scene.createTool(ordersTool())
  const test = await scene.call('POST', `/api/v1/http-tools/${id}/test`, { arguments: { q: 'x' } })
  expect(test.json).toMatchObject({
    ok: false,
    status: null,
    message: expect.stringContaining('session.user is missing'),
  })
  const dated = await scene.createTool({ name: 'dated', url: `${orders.url}/{{now.date}}?u={{session.user|nobody}}` })
  expect((await scene.call('POST', `/api/v1/http-tools/${dated}/test`, {})).json.ok).toBe(true)
  expect(orders.requests.at(-1)?.url.href).toBe(`http://tool/${today()}?u=nobody`)
})

verifies('contract-20.tools', 'a test of the tool takes the values that it gives', async () => {
  const url = `${orders.url}/{{session.metadata.customer}}?u={{session.user}}`
  const id = await scene.createTool({ name: 'given', url })
  const body = { user: 'an na', metadata: { customer: 'c/1047' } }
  expect((await scene.call('POST', `/api/v1/http-tools/${id}/test`, body)).json.ok).toBe(true)
  expect(orders.requests.at(-1)?.url.href).toBe('http://tool/c%2F1047?u=an%20na')
  const { json } = await scene.call('POST', `/api/v1/http-tools/${id}/test`, { user: 'anna' })
  expect(json.message).toContain('session.metadata.customer is missing')
})

verifies(
  'contract-20.saving',
  'unknown names are 400 on every way to save, and older records keep working',
  async () => {
    const prompt = { name: 'P', content: 'For {{session.usr}}' }
    const refused = await scene.call('POST', '/api/v1/prompts', prompt)
    expect([refused.status, refused.json.message]).toEqual([400, expect.stringMatching(/^content: "session\.usr"/)])
    const tool = { name: 't', description: 'd', method: 'GET', url: 'https://a.com/{{town}}' }
    expect((await scene.call('POST', '/api/v1/http-tools', tool)).json.message).toMatch(/^url: "town"/)
    const secret = { ...tool, url: 'https://a.com/', headers: { 'X-Api-Key': '{{session.metadata.a b}}' } }
    expect((await scene.call('POST', '/api/v1/http-tools', secret)).json.message).toMatch(/^headers\.X-Api-Key: /)
    const { skipped } = (
      await scene.call('POST', '/api/v1/import', { version: 1, prompts: [prompt], httpTools: [tool] })
    ).json
    expect(skipped).toMatchObject([
      { kind: 'prompt', name: 'P' },
      { kind: 'httpTool', name: 't' },
    ])
    const chat = { message: 'Hi', configOverrides: { systemPrompt: '{{session.usr}}' } }
    expect((await scene.call('POST', `${scene.agent}/playground/chat`, chat)).json.message).toMatch(
      /systemPrompt: "session/,
    )

    const [old] = await scene.app.sql<{ id: string }[]>`
    insert into http_tools (id, name, description, method, url, headers)
    values (gen_random_uuid(), 'old', 'd', 'GET', ${`${orders.url}/{{town}}`}, '{}') returning id`
    await scene.choose({ httpToolIds: [old?.id] })
    scene.up.next(asks('', { name: 'old', arguments: '{"town":"Bern"}' }))
    scene.up.next(says('There.'))
    await scene.send(await newSession({}), 'Go')
    expect(orders.requests.at(-1)?.url.pathname).toBe('/Bern')
    expect((await scene.call('PUT', `/api/v1/http-tools/${old?.id}`, { name: 'new' })).status).toBe(400)
    const inputSchema = { type: 'object', properties: { town: { type: 'string' } } }
    expect((await scene.call('PUT', `/api/v1/http-tools/${old?.id}`, { name: 'new', inputSchema })).status).toBe(200)
  },
)

verifies('contract-20.mcp', 'sendUser tells an MCP server user and session, absent where there is none', async () => {
  await using server = await startMcpServer('streamable_http, new era')
  const id = await scene.createMcpServer({ name: 's', url: server.url, sendUser: true })
  const quiet = await scene.createMcpServer({ name: 'quiet', url: server.url })
  expect((await scene.call('GET', `/api/v1/mcp-servers/${quiet}`)).json.sendUser).toBe(false)
  // The client is loaded and has both lists: a reply waits 3 s for them at most.
  for (const one of [id, quiet]) expect((await scene.call('GET', `/api/v1/mcp-servers/${one}/tools`)).status).toBe(200)
  const echo = async (session: string, name: string) => {
    scene.up.next(asks('', { name: `${name}__echo`, arguments: '{"text":"x","_meta":{"greenroom/user":"bob"}}' }))
    scene.up.next(says('Done.'))
    await scene.send(session, 'Go')
    const { 'greenroom/user': user, 'greenroom/session': of } = server.metas.at(-1) ?? {}
    return [user, of]
  }
  await scene.choose({ mcpServers: [id, quiet].map((mcpServerId) => ({ mcpServerId, toolNames: ['*'] })) })
  const [ann, nobody] = [await newSession({ user: 'ann' }), await newSession({})]
  expect(await echo(ann, 's')).toEqual(['ann', ann])
  expect(await echo(nobody, 's')).toEqual([undefined, nobody])
  expect(await echo(ann, 'quiet')).toEqual([undefined, undefined])
  const update = async (sendUser: boolean | null) =>
    (await scene.call('PUT', `/api/v1/mcp-servers/${id}`, { sendUser })).json.sendUser
  expect([await update(false), await update(true), await update(null)]).toEqual([false, true, false])
  expect(await echo(ann, 's')).toEqual([undefined, undefined])
})
