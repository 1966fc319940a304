/** Who may decide, what is refused, and what stays in force: contract section 15 over real sockets. */
import { afterAll, expect } from 'vitest'
import { call as request } from '../../../http/scene.ts'
import { asks, says } from '../../../http/tool-scene.ts'
import { createAgent, startTestApp } from '../../../support/app.ts'
import { untilFollowed } from '../../../support/followers.ts'
import { startUpstream } from '../../../support/network/upstream.ts'
import { verifies } from '../../../verifies.ts'
import {
  approve,
  call,
  callsOfWaitingTest,
  openWaitingScene,
  reject,
  respond,
  weather,
  wireCall,
} from './waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
const { count, sent } = callsOfWaitingTest(scene)
const stateless = (body: object) => scene.call('POST', `${scene.agent}/deploy/chat/completions`, body)
const playground = () => `${scene.agent}/playground`
const user = { role: 'user', content: 'Do it!' }

verifies('contract-15.secrets', 'a client secret approves as it stands or rejects, and is who decided', async () => {
  const made = await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'ann' })
  const secret = { authorization: `Bearer ${made.json.value}` }
  const session = async () => {
    const { json } = await scene.call('POST', scene.sessions, { user: 'ann' })
    scene.up.next(asks('', call('pay', 'c1', '{"amount":5}')))
    await scene.send(json.id, 'Pay!', {}, secret)
    return json.id
  }
  const id = await session()
  const decide = (decisions: object[]) => scene.decide(id, decisions, {}, secret)
  expect((await decide([approve('c1', { amount: 6 })])).status).toBe(403)
  expect((await decide([respond('c1', 'done')])).status).toBe(403)
  scene.says('Paid.')
  // The same arguments, in other words, are none that were changed.
  expect((await decide([approve('c1', { amount: 5.0 })])).status).toBe(200)
  const [, asking] = await scene.shown(id)
  expect(asking.toolCalls).toMatchObject([{ decision: 'approve', decidedBy: 'ann', decidedArguments: null, ok: true }])
  const other = await session()
  const foreign = await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'bob' })
  const bob = { authorization: `Bearer ${foreign.json.value}` }
  expect((await scene.decide(other, [approve('c1')], {}, bob)).status).toBe(404)
  scene.says('As you say.')
  expect((await scene.decide(other, [reject('c1')], {}, secret)).status).toBe(200)
})

verifies('contract-15.who-decided', 'the playground decides under management’s login name', async () => {
  await using up = await startUpstream()
  const guarded = await openWaitingSceneBehindLogin(up.url)
  try {
    const { as, id, agent } = guarded
    up.next(asks('', call('current_time', 'c1')))
    await as('POST', `${agent}/playground/chat`, { message: 'Time?', sessionId: id })
    const session = await as('GET', `${agent}/playground/sessions/${id}`)
    expect(session.json.pending).toMatchObject([{ call_id: 'c1', kind: 'approval' }])
    up.next(says('Late.'))
    const answer = await as('POST', `${agent}/playground/sessions/${id}/actions`, { decisions: [approve('c1')] })
    expect(answer.json.choices[0].message.content).toBe('Late.')
    const { json } = await as('GET', `${agent}/playground/sessions/${id}/messages`)
    expect(json.messages[1].toolCalls).toMatchObject([{ decision: 'approve', decidedBy: 'anna', ok: true }])
    const steps = await as('GET', `/api/v1/debug/sessions/${id}/transitions?kind=transition`)
    const taken = steps.json.transitions.map(({ from, event, to }: Record<string, string>) => `${from} ${event} ${to}`)
    expect(taken).toContain('streaming.settling settled waiting')
    expect(taken).toContain('waiting decided streaming.generating')
    const decided = steps.json.transitions.find(({ event }: { event: string }) => event === 'decided')
    const trace = await as('GET', `/api/v1/debug/replies/${json.messages[2].id}/trace`)
    expect([decided.detail, trace.json.spans[0].detail.decidedBy]).toEqual([{ decidedBy: 'anna', approve: 1 }, 'anna'])
  } finally {
    await guarded.close()
  }
})

/** An agent with a built-in tool that needs approval, and its session, behind a login. */
async function openWaitingSceneBehindLogin(baseUrl: string) {
  const app = await startTestApp({ settings: { AUTH_CREDENTIALS: 'anna:secret-word' } })
  const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl })
  const login = await request(`${app.url}/api/auth/login`, 'POST', { username: 'anna', password: 'secret-word' })
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  const as = (method: string, path: string, body?: unknown) => request(`${app.url}${path}`, method, body, { cookie })
  const agent = `/api/v1/agents/${agentId}`
  await as('PUT', `${agent}/tools`, { builtInToolIds: ['current_time'], approvals: '*' })
  const { id } = (await as('POST', `${agent}/playground/sessions`, {})).json
  return { as, agent, id, close: () => app.stop() }
}

verifies(
  'contract-15.stateless-approval',
  'a stateless call that needs approval is not made, and the reply goes on',
  async () => {
    scene.up.next(asks('', call('pay', 'c1', '{"amount":5}'), call('look', 'l1')))
    scene.says('I cannot.')
    const { json } = await stateless({ messages: [user] })
    expect(json.choices[0]).toMatchObject({ message: { content: 'I cannot.' }, finish_reason: 'stop' })
    expect(scene.tools.requests.map(({ url }) => url.pathname)).toEqual(['/look'])
    expect((await sent(2)).messages.at(-2)).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: expect.stringMatching(/not approved/i),
    })
    // A turn that holds the caller's calls runs none of the agent's own.
    scene.up.next(asks('', call('look', 'l1'), call('weather', 'w1')))
    const mixed = await stateless({ messages: [user], tools: [weather] })
    expect(mixed.json.choices[0]).toMatchObject({
      message: { tool_calls: [wireCall('weather', 'w1')] },
      finish_reason: 'tool_calls',
    })
    expect(scene.tools.requests).toHaveLength(1)
  },
)

verifies('contract-15.caller-tools-refused', 'what a completion may not bring is 400 that names it', async () => {
  const named = (name: string) => ({ type: 'function', function: { name } })
  const many = Array.from({ length: 129 }, (_, index) => named(`t${index}`))
  const assistant = { role: 'assistant', content: null, tool_calls: [wireCall('weather', 'w1')] }
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'sunny' })
  const wrong: [object, string | null][] = [
    [{ messages: [user], tools: many }, 'tools'],
    [{ messages: [user], tools: [weather, weather] }, 'tools.1.function.name'],
    [{ messages: [user], tools: [named('pay')] }, 'tools.0.function.name'],
    [{ messages: [user], tools: [named('a b')] }, 'tools.0.function.name'],
    [{ messages: [user], tools: [{ type: 'web_search' }] }, 'tools.0.type'],
    [{ messages: [user], tools: 'weather' }, 'tools'],
    [{ messages: [user], tool_choice: 'auto' }, 'tool_choice'],
    [{ messages: [user], tools: [], tool_choice: 'none' }, 'tool_choice'],
    [{ messages: [user], tools: [weather], tool_choice: 'any' }, 'tool_choice'],
    [{ messages: [user], tools: [weather], tool_choice: named('unknown') }, 'tool_choice'],
    [{ messages: [user, result('w1')] }, 'messages.1.tool_call_id'],
    [{ messages: [user, assistant, result('w2')] }, 'messages.2.tool_call_id'],
    [{ messages: [user, assistant, user] }, 'messages.2'],
    [{ messages: [user, assistant] }, 'messages.1'],
    [{ messages: [user, { role: 'assistant', tool_calls: [{ id: 'x' }] }] }, 'messages.1.tool_calls.0'],
    [{ messages: [{ role: 'user', content: null }] }, 'messages.0.content'],
  ]
  for (const [body, param] of wrong) {
    const { status, json } = await stateless(body)
    expect([param, status, json?.error?.param]).toEqual([param, 400, param])
  }
  expect(count()).toBe(0)
  const id = await scene.newSession()
  expect((await scene.send(id, 'Hi', { tools: [named('look')] })).status).toBe(400)
  expect((await scene.send(id, 'Hi', { tool_choice: 'required' })).status).toBe(400)
  expect((await scene.call('GET', `${scene.sessions}/${id}/messages`)).json.messages).toEqual([])
})

verifies('contract-15.carried', 'the playground’s overrides stay in force for the reply that goes on', async () => {
  const session = (await scene.call('POST', `${playground()}/sessions`, {})).json.id
  scene.up.next(asks('', call('pay', 'c1', '{"amount":5}')))
  const configOverrides = { model: 'another-model', temperature: 0.3 }
  await scene.call('POST', `${playground()}/chat`, { message: 'Pay!', sessionId: session, configOverrides })
  scene.says('Paid.')
  expect((await scene.decide(session, [approve('c1')])).status).toBe(200)
  expect(await sent(2)).toMatchObject({ model: 'another-model', temperature: 0.3 })
  scene.says('Hello.')
  await scene.send(session, 'Hello!')
  expect(await sent(3)).toMatchObject({ model: 'test-model' })
})

verifies('contract-15.one-winner', 'an official client’s own retry joins the reply that it started', async () => {
  const id = await scene.waiting()
  const gate = Promise.withResolvers<void>()
  scene.up.next(async (one) => {
    await one.text('Paid.')
    await gate.promise
    await one.finish()
  })
  const first = scene.decide(id, [approve('c1')])
  await sent(2)
  const again = scene.decide(id, [approve('c1')], {}, { 'x-stainless-retry-count': '1' })
  const other = await scene.decide(id, [reject('c1')], {}, { 'x-stainless-retry-count': '1' })
  expect(other.status).toBe(409)
  await untilFollowed(scene.app.url, id, 2)
  gate.resolve()
  expect((await again).json.id).toBe((await first).json.id)
  expect(scene.tools.requests).toHaveLength(1)
})

verifies(
  'contract-15.once',
  'a call that had not begun when its reply ended is never made, and the model is told',
  async () => {
    const id = await scene.newSession()
    scene.up.next(asks('', call('pay', 'c1', '{"amount":5}'), call('weather', 'w1')))
    await scene.send(id, 'Both!', { tools: [weather] })
    // The reply that makes the approved call is cancelled while the tool is at work.
    const at = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    scene.answer(async () => {
      at.resolve()
      await gate.promise
      return 'too late'
    })
    const deciding = scene.decide(id, [approve('c1')])
    await at.promise
    await scene.call('POST', `${scene.sessions}/${id}/chat/completions/cancel`)
    gate.resolve()
    await deciding
    expect((await scene.session(id)).pending).toEqual([])
    expect((await scene.decide(id, [approve('c1')])).status).toBe(409)
    const [, asking] = await scene.shown(id)
    expect(asking.toolCalls).toMatchObject([
      { id: 'c1', decision: 'approve', ok: null, content: null },
      { id: 'w1', decision: null, ok: null, content: null },
    ])
    scene.says('I see.')
    await scene.send(id, 'And now?')
    const told = (await sent(2)).messages.filter(({ role }: { role: string }) => role === 'tool')
    expect(told.map(({ content }: { content: string }) => content)).toEqual([
      expect.stringContaining('may have taken effect'),
      expect.stringContaining('was not made'),
    ])
  },
)

verifies(
  ['contract-15.forked', 'contract-14.fork'],
  'a copy is told what was decided; what waits is rejected in it',
  async () => {
    const id = await scene.waiting()
    scene.up.next(asks('And again. ', call('pay', 'c2', '{"amount":6}')))
    await scene.decide(id, [approve('c1')])
    expect((await scene.session(id)).pending).toMatchObject([{ call_id: 'c2' }])
    const made = await scene.call('POST', scene.sessions, { fork_of: { session_id: id } })
    expect(made.status).toBe(201)
    expect(made.json.pending).toEqual([])
    expect((await scene.decide(made.json.id, [approve('c2')])).status).toBe(409)
    const replies = (await scene.shown(made.json.id)).filter(({ role }: { role: string }) => role === 'assistant')
    expect(replies.map(({ toolCalls }: { toolCalls: object[] }) => toolCalls)).toMatchObject([
      [{ id: 'c1', decision: 'approve', ok: true }],
      [{ id: 'c2', decision: 'reject', ok: false }],
    ])
    scene.says('I see.')
    await scene.send(made.json.id, 'And now?')
    const told = (await sent(3)).messages.filter(({ role }: { role: string }) => role === 'tool')
    expect(told.map(({ content }: { content: string }) => content)).toEqual([
      expect.stringContaining('done /pay'),
      expect.stringMatching(/rejected.*copied/),
    ])
    expect((await scene.session(id)).pending).toMatchObject([{ call_id: 'c2' }])
  },
)

verifies(
  ['contract-15.message-instead', 'contract-14.head'],
  'an edit and a regenerate reject what waits; the head stays',
  async () => {
    for (const wanted of [{ parent_id: null }, { regenerate: true }]) {
      const id = await scene.waiting()
      const [question] = (await scene.call('GET', `${scene.sessions}/${id}/messages`)).json.messages
      const moved = await scene.call('POST', `${scene.sessions}/${id}/head`, { message_id: question.id })
      expect([moved.status, moved.json.error]).toEqual([409, expect.stringMatching(/wait for a decision/)])
      scene.says('Something else.')
      expect((await scene.send(id, 'Edited', wanted)).status).toBe(200)
      expect((await scene.session(id)).pending).toEqual([])
      expect((await scene.decide(id, [approve('c1')])).status).toBe(409)
    }
    expect(scene.tools.requests).toEqual([])
  },
)

verifies('contract-15.who-decided', 'the asking reply shows who decided what, when, and the result', async () => {
  const id = await scene.waiting()
  scene.says('Paid.')
  await scene.decide(id, [approve('c1')])
  const [, asking, next] = await scene.shown(id)
  expect(asking.toolCalls).toEqual([
    {
      id: 'c1',
      name: 'pay',
      arguments: '{"amount":5}',
      offset: 8,
      startedAt: expect.any(String),
      ok: true,
      content: expect.stringContaining('done /pay'),
      durationMs: expect.any(Number),
      decision: 'approve',
      decidedAt: expect.any(String),
      decidedBy: null,
      decidedArguments: null,
    },
  ])
  expect(next.toolCalls).toEqual([])
})

verifies('contract-15.shown', 'the playground’s chat shows what waits to who asks for it', async () => {
  const shown = async (extra: object) => {
    scene.up.next(asks('', call('pay', 'c1', '{"amount":5}')))
    const stream = await scene.chat({ message: 'Pay!', ...extra })
    await stream.rest()
    return stream.frames.map(({ data }) => data).filter((data) => data.includes('"tool_calls"'))
  }
  expect(await shown({})).toEqual([])
  expect(await shown({ include_actions: true })).toHaveLength(2)
})
