/** MCP servers that ask their user while a tool runs (contract section 27), end to end. */
import { afterAll, beforeEach, expect } from 'vitest'
import { asks, callsOfTest, openToolScene } from '../../../http/tool-scene.ts'
import { form, startAskingServer } from '../../../support/network/asking-server.ts'
import { startMcpServer } from '../../../support/network/mcp-servers.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openToolScene()
const server = await startAskingServer()
afterAll(async () => {
  await scene.close()
  await server[Symbol.asyncDispose]()
})
const model = callsOfTest(scene)
const mcpServerId = await scene.createMcpServer({ name: 'asks', url: server.url })
await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
await scene.call('GET', `/api/v1/mcp-servers/${mcpServerId}/tools`)
beforeEach(() => void server.calls.splice(0))

const session = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}`)).json
const actions = (id: string, decisions: object[], extra: object = {}) =>
  scene.call('POST', `${scene.sessions}/${id}/actions`, { decisions, ...extra })

/** A session in which the model has called this tool. */
async function asked(tool: string, ...more: string[]) {
  const id = await scene.newSession()
  const calls = [tool, ...more].map((name, n) => ({ name: `asks__${name}`, arguments: '{"a":1.50}', id: `c${n + 1}` }))
  scene.up.next(asks('Well. ', ...calls))
  scene.says(['Done.'])
  const answer = await scene.send(id, 'Hello')
  return { id, answer }
}

/** What the model was told of the call c1 at last. */
async function told(nth: number, call = 'c1'): Promise<string> {
  const { messages } = await model.sent(nth)
  return messages.findLast(({ tool_call_id }: { tool_call_id?: string }) => tool_call_id === call)?.content
}

const entry = {
  call_id: 'c1',
  name: 'asks__form',
  arguments: '{"a":1.50}',
  kind: 'input',
  server: 'asks',
  key: 'who',
  message: 'Who is it?',
  schema: form,
}

verifies(
  ['contract-27.questions', 'contract-27.sent-again', 'contract-27.state', 'contract-27.declared'],
  'the reply ends with a question, and the answer goes to the server with the call',
  async () => {
    const { id, answer } = await asked('form')
    expect(answer.json.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Well. ' } })
    const { pending } = await session(id)
    expect(pending).toEqual([entry])
    expect(Object.keys(pending[0].schema.properties)).toEqual(['name', 'age'])
    expect(model.count()).toBe(1)
    const done = await actions(id, [{ call_id: 'c1', decision: 'answer', content: { name: 'Bo', age: 7 } }])
    expect([done.status, done.json.choices[0].message.content]).toEqual([200, 'Done.'])
    const [first, second] = server.calls
    expect(first).toMatchObject({ capabilities: { form: {}, url: {} }, arguments: { a: 1.5 } })
    expect(second).toEqual({
      ...first,
      responses: { who: { action: 'accept', content: { name: 'Bo', age: 7 } } },
      state: 'state ü 1',
    })
    expect(server.calls).toHaveLength(2)
    expect(JSON.parse(await told(2))).toEqual(second?.responses)
    const [, shown] = await scene.shown(id)
    expect(shown.toolCalls).toMatchObject([{ id: 'c1', decision: 'answer', ok: true }])
    expect(shown.toolCalls[0].answers).toMatchObject([
      { key: 'who', decision: 'answer', content: { name: 'Bo', age: 7 } },
    ])
    expect((await session(id)).pending).toEqual([])
  },
)

verifies('contract-27.state', 'the state stands encrypted in the database, and in no answer', async () => {
  const { id } = await asked('form')
  const rows = await scene.app.sql`
    select w.asked_state as state, m.tool_events::text as events from waiting_calls w join messages m on m.id = w.reply_id
     where w.session_id = ${id}`
  expect(rows).toHaveLength(1)
  expect(JSON.stringify([rows, await session(id), await scene.shown(id), await scene.messages(id)])).not.toContain(
    'state ü 1',
  )
  expect(rows[0]?.state).toMatch(/.{20}/)
})

verifies('contract-27.answers', 'what does not fit is refused, and nothing is decided', async () => {
  const { id } = await asked('form', 'page')
  const cases: [object, string][] = [
    [{ call_id: 'c1', decision: 'answer', content: { age: 'old' } }, 'decisions.0.content'],
    [{ call_id: 'c1', decision: 'answer', content: {} }, 'decisions.0.content'],
    [{ call_id: 'c1', decision: 'answer' }, 'decisions.0.content'],
    [{ call_id: 'c1', decision: 'decline', content: {} }, 'decisions.0.content'],
    [{ call_id: 'c2', decision: 'answer', content: {} }, 'decisions.0.content'],
    [{ call_id: 'c1', decision: 'answer', key: 'other', content: { age: 1 } }, 'decisions.0.key'],
    [{ call_id: 'c1', decision: 'approve' }, 'decisions'],
    [{ call_id: 'c1', decision: 'respond', output: 'x' }, 'decisions'],
    [{ call_id: 'c1', decision: 'reject' }, 'decisions'],
  ]
  for (const [decision, param] of cases) {
    const { status, json } = await actions(id, [decision])
    expect([decision, status, json.error?.param]).toEqual([decision, 400, param])
  }
  expect(
    (await actions(id, [{ call_id: 'c1', decision: 'answer', content: { age: 'old' } }])).json.error.message,
  ).toContain('age')
  expect((await session(id)).pending).toHaveLength(2)
  const part = await actions(id, [{ call_id: 'c1', decision: 'decline' }])
  expect([part.status, part.json.pending]).toMatchObject([200, [{ call_id: 'c2', url: 'https://example.com/pay' }]])
  expect((await actions(id, [{ call_id: 'c1', decision: 'decline' }])).status).toBe(409)
  expect((await actions(id, [{ call_id: 'c2', decision: 'answer' }])).status).toBe(200)
  expect(server.calls.slice(2).map(({ name, responses }) => [name, responses])).toEqual(
    expect.arrayContaining([
      ['form', { who: { action: 'decline' } }],
      ['page', { pay: { action: 'accept' } }],
    ]),
  )
})

verifies('contract-27.answers', 'each question of a call is decided by its key, once', async () => {
  const { id } = await asked('two')
  expect((await session(id)).pending.map(({ key }: { key: string }) => key)).toEqual(['a', 'b'])
  expect((await actions(id, [{ call_id: 'c1', decision: 'decline' }])).json.error.param).toBe('decisions.0.key')
  const twice = { call_id: 'c1', key: 'a', decision: 'decline' }
  expect((await actions(id, [twice, twice])).status).toBe(400)
  const part = await actions(id, [{ call_id: 'c1', key: 'b', decision: 'cancel' }])
  expect(part.json.pending).toMatchObject([{ key: 'a' }])
  expect(server.calls).toHaveLength(1)
  expect((await actions(id, [{ call_id: 'c1', key: 'a', decision: 'answer', content: { age: 3 } }])).status).toBe(200)
  expect(server.calls[1]?.responses).toEqual({ a: { action: 'accept', content: { age: 3 } }, b: { action: 'cancel' } })
  const [, shown] = await scene.shown(id)
  expect(shown.toolCalls[0]).toMatchObject({
    decision: 'cancel',
    answers: [
      { key: 'a', decision: 'answer' },
      { key: 'b', decision: 'cancel', content: null },
    ],
  })
})

verifies('contract-27.sent-again', 'a server asks again; the key and the count stay', async () => {
  const { id } = await asked('again')
  expect((await session(id)).pending).toMatchObject([{ message: 'Round 0?' }])
  await actions(id, [{ call_id: 'c1', decision: 'answer', content: { age: 1 } }])
  expect((await session(id)).pending).toMatchObject([{ message: 'Round 1?' }])
  expect(model.count()).toBe(1)
  await actions(id, [{ call_id: 'c1', decision: 'answer', content: { age: 2 } }])
  expect(server.calls.map(({ state, key }) => [state, key])).toEqual([
    [undefined, server.calls[0]?.key],
    ['r0', server.calls[0]?.key],
    ['r1', server.calls[0]?.key],
  ])
  expect(server.calls[2]?.responses).toEqual({ q1: { action: 'accept', content: { age: 2 } } })
  const [, shown] = await scene.shown(id)
  expect(shown.toolCalls[0].answers.map(({ content }: { content: object }) => content)).toEqual([
    { age: 1 },
    { age: 2 },
  ])
  expect(shown.toolCalls[0]).toMatchObject({ ok: true, decision: 'answer' })
})

verifies('contract-27.cannot-ask', 'what cannot be asked is an error for the model', async () => {
  for (const tool of ['plain', 'secret', 'many', 'long', 'sampling']) {
    const { id, answer } = await asked(tool)
    expect([tool, answer.json.choices[0].message.content]).toEqual([tool, 'Well. Done.'])
    expect((await session(id)).pending).toEqual([])
  }
  expect(await told(2)).toMatch(/^The MCP server cannot ask its user/)
  const { answer } = await asked('later')
  expect(answer.json.choices[0].message.content).toBe('Well. Done.')
  expect(server.calls.slice(-2).map(({ state }) => state)).toEqual([undefined, 'once more'])
})

verifies('contract-27.declared', 'neither a stateless completion nor an older server may ask', async () => {
  scene.up.next(asks('', { name: 'asks__form', arguments: '{}', id: 'c1' }))
  scene.says(['Done.'])
  expect((await scene.stateless([{ role: 'user', content: 'Hello' }])).status).toBe(200)
  expect(server.calls).toMatchObject([{ capabilities: undefined }])
  expect(await told(2)).toMatch(/capabilities do not declare/)
  await using older = await startMcpServer('streamable_http, old era')
  const old = await scene.createMcpServer({ name: 'old', url: older.url })
  await scene.choose({ mcpServers: [{ mcpServerId: old, toolNames: ['*'] }] })
  const id = await scene.newSession()
  scene.up.next(asks('', { name: 'old__echo', arguments: '{"text":"x"}', id: 'c1' }))
  scene.says(['Done.'])
  await scene.send(id, 'Hello')
  await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
  expect(older.requests.find(({ rpc }) => rpc === 'initialize')).toBeDefined()
})

verifies('contract-27.dropped', 'a new message drops the question, and a fork has none', async () => {
  const { id } = await asked('form')
  const fork = await scene.call('POST', scene.sessions, { fork_of: { session_id: id } })
  expect([fork.status, fork.json.pending]).toEqual([201, []])
  await scene.send(id, 'Never mind')
  expect(server.calls).toHaveLength(1)
  expect(await told(2)).toMatch(/was not answered/)
  expect((await session(id)).pending).toEqual([])
  const rows = await scene.app.sql`select tool_events::text as t from messages where session_id = ${fork.json.id}`
  expect(JSON.stringify(rows)).not.toContain('requested')
  expect(JSON.stringify(rows)).not.toContain('Who is it?')
})

verifies('contract-27.moved', 'a server at another address gets no answer', async () => {
  const { id } = await asked('form')
  await using other = await startAskingServer()
  await scene.call('PUT', `/api/v1/mcp-servers/${mcpServerId}`, { url: other.url })
  await actions(id, [{ call_id: 'c1', decision: 'answer', content: { age: 1 } }])
  await scene.call('PUT', `/api/v1/mcp-servers/${mcpServerId}`, { url: server.url })
  expect([server.calls.length, other.calls.length]).toEqual([1, 0])
  expect(await told(2)).toMatch(/address of its MCP server has changed/)
})
