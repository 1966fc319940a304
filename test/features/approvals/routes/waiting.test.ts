/** Waiting sessions: contract section 15 over real sockets. */
import { afterAll, expect } from 'vitest'
import { asks, says } from '../../../http/tool-scene.ts'
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
const messages = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}/messages`)).json.messages

verifies('contract-15.waiting', 'a call that needs approval ends the reply, and waits in the session', async () => {
  const id = await scene.newSession()
  scene.up.next(asks('Looking and paying. ', call('look', 'c0'), call('pay', 'c1', '{"amount":5}')))
  const asked = await scene.send(id, 'Pay!')
  // Others see the end of an ordinary reply.
  expect(asked.json.choices[0]).toMatchObject({
    message: { role: 'assistant', content: 'Looking and paying. ' },
    finish_reason: 'stop',
  })
  expect(asked.json.choices[0].message).not.toHaveProperty('tool_calls')
  // The other call of the turn was made.
  expect(scene.tools.requests.map(({ url }) => url.pathname)).toEqual(['/look'])
  expect((await scene.session(id)).pending).toEqual([
    { call_id: 'c1', name: 'pay', arguments: '{"amount":5}', kind: 'approval' },
  ])
  expect((await messages(id)).at(-1)).toMatchObject({ status: 'complete', finish_reason: 'tool_calls' })
  const listed = await scene.call('GET', '/api/v1/sessions?status=waiting')
  expect(listed.json.sessions.map((one: { id: string }) => one.id)).toContain(id)
})

verifies(
  ['contract-15.actions', 'contract-15.once'],
  'an approved call runs in the next reply, under its first key',
  async () => {
    const id = await scene.waiting()
    const asking = (await messages(id)).at(-1)
    scene.says('Paid.')
    const { status, json } = await scene.decide(id, [approve('c1')])
    expect(status).toBe(200)
    expect(json.choices[0]).toMatchObject({ message: { content: 'Paid.' }, finish_reason: 'stop' })
    expect(
      scene.tools.requests.map(({ url, body, request }) => [url.pathname, body, request.headers['idempotency-key']]),
    ).toEqual([['/pay', '{"amount":5}', `${asking.id}:1`]])
    expect((await sent(2)).messages).toEqual([
      { role: 'user', content: 'Pay!' },
      { role: 'assistant', content: 'Paying. ', tool_calls: [wireCall('pay', 'c1', '{"amount":5}')] },
      { role: 'tool', tool_call_id: 'c1', content: expect.stringContaining('done /pay') },
    ])
    expect((await scene.session(id)).pending).toEqual([])
    const roles = (await messages(id)).map(({ role, content }: { role: string; content: string }) => [role, content])
    expect(roles).toEqual([
      ['user', 'Pay!'],
      ['assistant', 'Paying. '],
      ['assistant', 'Paid.'],
    ])
    // Later turns read as one conversation.
    scene.says('Yes.')
    await scene.send(id, 'Really?')
    expect((await sent(3)).messages).toEqual([
      { role: 'user', content: 'Pay!' },
      { role: 'assistant', content: 'Paying. ', tool_calls: [wireCall('pay', 'c1', '{"amount":5}')] },
      { role: 'tool', tool_call_id: 'c1', content: expect.stringContaining('done /pay') },
      { role: 'assistant', content: 'Paid.' },
      { role: 'user', content: 'Really?' },
    ])
  },
)

verifies('contract-15.actions', 'the next reply streams in the next ids, and resumes under them', async () => {
  const id = await scene.waiting()
  scene.says('Paid.')
  const first = await (await scene.resume(id, 0)).rest()
  const last = Number(first.frames.at(-1)?.id)
  const answer = await scene.decide(id, [approve('c1')], { stream: true })
  const ids = [...answer.text.matchAll(/^id: (\d+)$/gm)].map(([, one]) => Number(one))
  expect(ids[0]).toBe(last + 1)
  expect(ids).toEqual(ids.map((_, index) => last + 1 + index))
  const again = await (await scene.resume(id, 0)).rest()
  expect(again.frames.map((frame) => Number(frame.id))).toEqual(ids)
})

verifies('contract-15.actions', 'rejected and answered calls are not made; the model is told why', async () => {
  const id = await scene.newSession()
  scene.up.next(
    asks('', call('pay', 'c1', '{"amount":1}'), call('pay', 'c2', '{"amount":2}'), call('pay', 'c3', '{"amount":3}')),
  )
  await scene.send(id, 'Pay thrice!')
  scene.says('So be it.')
  const decisions = [reject('c1', 'Too dear.'), respond('c2', 'Paid in cash.'), approve('c3', { amount: 30 })]
  expect((await scene.decide(id, decisions)).status).toBe(200)
  expect(scene.tools.requests.map(({ body }) => body)).toEqual(['{"amount":30}'])
  const results = (await sent(2)).messages.slice(2)
  expect(results.map(({ content }: { content: string }) => content)).toEqual([
    expect.stringContaining('Too dear.'),
    'Paid in cash.',
    expect.stringMatching(/\{"amount":30\}[\s\S]*done \/pay/),
  ])
})

verifies('contract-15.actions', 'decisions that do not fit what is pending decide nothing', async () => {
  const id = await scene.newSession()
  scene.up.next(asks('', call('pay', 'c1', '{"amount":1}'), call('pay', 'c2', '{"amount":2}')))
  await scene.send(id, 'Pay twice!')
  const wrong = [
    [approve('c1'), approve('c9')],
    [approve('c1'), approve('c1')],
    [approve('c1'), approve('c2'), approve('c2')],
    [approve('c1', { amount: 'much' }), approve('c2')],
    [{ call_id: 'c1', decision: 'respond' }, approve('c2')],
    [{ call_id: 'c1', decision: 'maybe' }, approve('c2')],
  ]
  for (const decisions of wrong)
    expect([decisions, (await scene.decide(id, decisions)).status]).toEqual([decisions, 400])
  expect((await scene.session(id)).pending).toHaveLength(2)
  expect((await scene.decide(await scene.newSession(), [approve('c1')])).status).toBe(409)
  expect((await scene.decide('11111111-1111-4111-8111-111111111111', [approve('c1')])).status).toBe(404)
})

verifies('contract-15.one-winner', 'of two deciders one wins; a retry joins, with its key or without', async () => {
  const id = await scene.waiting()
  scene.up.always(says('Paid.'))
  const both = await Promise.all([scene.decide(id, [approve('c1')]), scene.decide(id, [reject('c1')])])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  const next = await scene.waiting()
  const key = { 'idempotency-key': 'k1' }
  const first = await scene.decide(next, [approve('c1')], {}, key)
  const again = await scene.decide(next, [approve('c1')], {}, key)
  expect(again.json.id).toBe(first.json.id)
  expect((await scene.decide(next, [reject('c1')], {}, key)).status).toBe(400)
  expect((await scene.decide(next, [approve('c1')])).status).toBe(409)
})

verifies('contract-15.message-instead', 'a new message rejects what is pending', async () => {
  const id = await scene.waiting()
  scene.says('As you like.')
  expect((await scene.send(id, 'Never mind.')).status).toBe(200)
  expect((await sent(2)).messages.slice(1)).toEqual([
    { role: 'assistant', content: 'Paying. ', tool_calls: [wireCall('pay', 'c1', '{"amount":5}')] },
    { role: 'tool', tool_call_id: 'c1', content: expect.stringMatching(/rejected.*new message/) },
    { role: 'user', content: 'Never mind.' },
  ])
  expect((await scene.session(id)).pending).toEqual([])
  expect((await scene.decide(id, [approve('c1')])).status).toBe(409)
  expect(scene.tools.requests).toEqual([])
})

verifies('contract-15.cancel', 'cancel while waiting changes nothing', async () => {
  const id = await scene.waiting()
  expect((await scene.call('POST', `${scene.sessions}/${id}/chat/completions/cancel`)).status).toBe(204)
  expect((await scene.session(id)).pending).toHaveLength(1)
})

verifies('contract-15.shown', 'include_actions shows what waits for an approval', async () => {
  const id = await scene.newSession()
  scene.up.next(asks('', call('pay', 'c1', '{"amount":5}')))
  const asked = await scene.send(id, 'Pay!', { include_actions: true })
  expect(asked.json.choices[0]).toMatchObject({
    message: { tool_calls: [wireCall('pay', 'c1', '{"amount":5}')] },
    finish_reason: 'tool_calls',
  })
  const { frames } = await (await scene.resume(id, 0)).rest()
  const chunks = frames.slice(0, -1).map(({ data }) => JSON.parse(data).choices[0])
  expect(chunks.slice(-2)).toEqual([
    { index: 0, delta: { tool_calls: [{ index: 0, ...wireCall('pay', 'c1', '{"amount":5}') }] }, finish_reason: null },
    { index: 0, delta: {}, finish_reason: 'tool_calls' },
  ])
  expect(frames.map((frame) => Number(frame.id))).toEqual(frames.map((_, index) => index + 1))
})

verifies(
  ['contract-4.resume', 'contract-15.shown'],
  'a resume repeats the finish chunk, never the calls before it: clients add their arguments up',
  async () => {
    const id = await scene.newSession()
    scene.up.next(asks('Paying. ', call('pay', 'c1', '{"amount":5}')))
    const whole = (await (await scene.stream(id, 'Pay!', { include_actions: true })).rest()).frames
    expect(JSON.parse(whole.at(-3)?.data ?? '').choices[0].delta).toHaveProperty('tool_calls')
    for (const [index, { id: seen }] of whole.entries()) {
      const { frames } = await (await scene.resume(id, Number(seen))).rest()
      expect(frames).toEqual(whole.slice(Math.min(index + 1, whole.length - 2)))
    }
  },
)

verifies(
  ['contract-15.results', 'contract-15.carried'],
  'the caller makes its calls, and the tools stay in force',
  async () => {
    const id = await scene.newSession()
    scene.up.next(asks('', call('weather', 'w1')))
    scene.up.next(asks('', call('weather', 'w2')))
    scene.says('Sunny twice.')
    scene.says('Bye.')
    const asked = await scene.send(id, 'Weather?', { tools: [weather], tool_choice: 'required', max_tokens: 77 })
    expect(asked.json.choices[0].finish_reason).toBe('tool_calls')
    expect((await scene.session(id)).pending).toEqual([
      { call_id: 'w1', name: 'weather', arguments: '{}', kind: 'caller' },
    ])
    const answer = (callId: string, content: string) =>
      scene.call('POST', `${scene.sessions}/${id}/chat/completions`, {
        messages: [
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', tool_calls: [wireCall('weather', callId)] },
          { role: 'tool', tool_call_id: callId, content },
        ],
      })
    expect((await answer('w9', 'x')).status).toBe(400)
    const next = await answer('w1', 'sunny')
    // Carried tools count as brought.
    expect(next.json.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [wireCall('weather', 'w2')] },
    })
    expect(await sent(2)).toMatchObject({ max_tokens: 77, tools: expect.arrayContaining([weather]) })
    expect((await sent(2)).tool_choice).toBeUndefined()
    expect((await scene.decide(id, [respond('w2', 'sunny again')])).json.choices[0].finish_reason).toBe('stop')
    expect((await sent(3)).messages.slice(1)).toEqual([
      { role: 'assistant', content: null, tool_calls: [wireCall('weather', 'w1')] },
      { role: 'tool', tool_call_id: 'w1', content: 'sunny' },
      { role: 'assistant', content: null, tool_calls: [wireCall('weather', 'w2')] },
      { role: 'tool', tool_call_id: 'w2', content: 'sunny again' },
    ])
    expect((await answer('w2', 'late')).status).toBe(409)
    // The whole conversation, as clients send it: only its end is read.
    const whole = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [wireCall('weather', 'w1')] },
      { role: 'tool', tool_call_id: 'w1', content: 'sunny' },
      { role: 'assistant', content: 'Sunny twice.' },
      { role: 'user', content: 'Bye.' },
    ]
    const said = await scene.call('POST', `${scene.sessions}/${id}/chat/completions`, { messages: whole })
    expect(said.status).toBe(200)
    expect((await sent(4)).tools).not.toContainEqual(weather)
    expect((await sent(4)).max_tokens).toBeUndefined()
  },
)

verifies('contract-15.kinds', 'a turn with both kinds waits for approvals first, then for the caller', async () => {
  const id = await scene.newSession()
  scene.up.next(asks('', call('weather', 'w1'), call('pay', 'c1', '{"amount":5}'), call('look', 'l1')))
  scene.says('All done.')
  const asked = await scene.send(id, 'Everything!', { tools: [weather] })
  expect(asked.json.choices[0].finish_reason).toBe('stop')
  expect((await scene.session(id)).pending).toMatchObject([{ call_id: 'c1', kind: 'approval' }])
  const results = { messages: [{ role: 'tool', tool_call_id: 'w1', content: 'sunny' }] }
  expect((await scene.call('POST', `${scene.sessions}/${id}/chat/completions`, results)).status).toBe(409)
  const approved = await scene.decide(id, [approve('c1')])
  expect(approved.json.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [wireCall('weather', 'w1')] },
  })
  expect(count()).toBe(1)
  expect((await scene.session(id)).pending).toMatchObject([{ call_id: 'w1', kind: 'caller' }])
  expect((await scene.decide(id, [approve('w1')])).status).toBe(400)
  const answered = await scene.call('POST', `${scene.sessions}/${id}/chat/completions`, results)
  expect(answered.json.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'All done.' } })
  expect((await sent(2)).messages.slice(2).map(({ tool_call_id }: { tool_call_id: string }) => tool_call_id)).toEqual([
    'w1',
    'c1',
    'l1',
  ])
  expect(scene.tools.requests.map(({ url }) => url.pathname)).toEqual(['/look', '/pay'])
})

verifies('contract-15.limit', 'decided calls count towards maxToolCalls from the user’s message on', async () => {
  await scene.call('PUT', scene.agent, { generationConfig: { maxToolCalls: 2 } })
  try {
    const id = await scene.waiting()
    scene.up.next(asks('', call('look', 'l1')))
    scene.says('Enough.')
    await scene.decide(id, [approve('c1')])
    expect((await sent(2)).tools).toHaveLength(2)
    expect((await sent(3)).tools).toBeUndefined()
  } finally {
    await scene.call('PUT', scene.agent, { generationConfig: {} })
  }
})
