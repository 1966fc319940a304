/** Calls are decided one by one: contract section 29 over real sockets. */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { approve, call, callsOfWaitingTest, openWaitingScene, reject, respond, weather } from './waiting-scene.ts'

const scene = await openWaitingScene({ settings: {} })
afterAll(scene.close)
const { count, sent } = callsOfWaitingTest(scene)

/** A session in which two calls of `pay` wait: `c1` of 1, `c2` of 2. */
async function twoWaiting(): Promise<string> {
  const id = await scene.newSession()
  scene.up.next(asks('', call('pay', 'c1', '{"amount":1}'), call('pay', 'c2', '{"amount":2}')))
  await scene.send(id, 'Pay both!')
  return id
}

const callsOf = async (id: string) => (await scene.shown(id))[1].toolCalls
const paid = () => scene.tools.requests.map(({ body }) => JSON.parse(body).amount).sort()
/** Texts of the tools' messages that the model was sent last. */
const told = async (): Promise<string[]> =>
  (await sent(count())).messages.flatMap(({ role, content }: { role: string; content: string }) =>
    role === 'tool' ? [content] : [],
  )

verifies('contract-29.one-by-one', 'a part is stored at once, and the last decision begins the reply', async () => {
  const id = await twoWaiting()
  const before = await scene.session(id)
  const asked = count()
  const part = await scene.decide(id, [approve('c2')], { stream: true })
  expect(part.status).toBe(200)
  expect(part.headers.get('content-type')).toMatch(/^application\/json/)
  expect(part.json).toEqual({ ...before, pending: [expect.objectContaining({ call_id: 'c1' })] })
  expect(await scene.session(id)).toEqual(part.json)
  expect(count()).toBe(asked)
  expect(paid()).toEqual([])
  expect(await callsOf(id)).toMatchObject([
    { decision: null, ok: null },
    { decision: 'approve', decidedAt: expect.any(String), ok: null },
  ])

  scene.says('Both paid.')
  const last = await scene.decide(id, [approve('c1')])
  expect(last.json.choices[0].message.content).toBe('Both paid.')
  expect(paid()).toEqual([1, 2])
  expect(await callsOf(id)).toMatchObject([{ ok: true }, { ok: true }])
})

verifies('contract-29.whole-or-not', 'a request that names a decided call is 409 and stores nothing', async () => {
  const id = await twoWaiting()
  await scene.decide(id, [reject('c1', 'No.')])
  const again = await scene.decide(id, [approve('c1'), approve('c2')])
  expect(again.status).toBe(409)
  expect(again.headers.get('x-should-retry')).toBe('false')
  expect((await scene.session(id)).pending).toMatchObject([{ call_id: 'c2' }])
  expect(await callsOf(id)).toMatchObject([{ decision: 'reject' }, { decision: null }])
  expect((await scene.decide(id, [approve('c3')])).status).toBe(400)
  scene.says('One paid.')
  expect((await scene.decide(id, [approve('c2')])).status).toBe(200)
  expect(await told()).toEqual([expect.stringContaining('No.'), expect.stringContaining('done')])
})

verifies('contract-29.one-by-one', 'fields of a request that decides a part are checked, and not kept', async () => {
  const id = await twoWaiting()
  expect((await scene.decide(id, [approve('c1')], { tools: 'none' })).status).toBe(400)
  expect((await scene.session(id)).pending).toHaveLength(2)
  expect((await scene.decide(id, [approve('c1')], { seed: 7 })).status).toBe(200)
  scene.says('Done.')
  await scene.decide(id, [approve('c2')], { max_tokens: 9 })
  const body = await sent(count())
  expect(body).toMatchObject({ max_tokens: 9 })
  expect(body).not.toHaveProperty('seed')
})

verifies('contract-29.repeated', 'a part that is sent again is answered with the session as it is', async () => {
  const id = await twoWaiting()
  const keyed = { 'idempotency-key': 'k1' }
  await scene.decide(id, [approve('c1')], {}, keyed)
  const again = await scene.decide(id, [approve('c1')], {}, keyed)
  expect(again.status).toBe(200)
  expect(again.json.pending).toMatchObject([{ call_id: 'c2' }])
  expect((await scene.decide(id, [reject('c1')], {}, keyed)).status).toBe(400)
  const retried = await scene.decide(id, [approve('c1')], {}, { 'x-stainless-retry-count': '1' })
  expect(retried.json.pending).toMatchObject([{ call_id: 'c2' }])

  scene.says('Done.')
  await scene.decide(id, [approve('c2')])
  const late = await scene.decide(id, [approve('c1')], {}, keyed)
  expect(late.json.pending).toEqual([])
})

verifies(
  'contract-29.repeated',
  'each decision leaves its audit entry once, also where the reply is joined',
  async () => {
    const entries = async (): Promise<number> => (await scene.call('GET', '/api/v1/audit?kind=call')).json.total
    const id = await twoWaiting()
    const before = await entries()
    const decide = (callId: string, key: string) => scene.decide(id, [approve(callId)], {}, { 'idempotency-key': key })
    for (let time = 0; time < 2; time += 1) await decide('c1', 'k2')
    expect(await entries()).toBe(before + 1)
    scene.says('Done.')
    const [first, again] = [await decide('c2', 'k3'), await decide('c2', 'k3')]
    expect(again.json.choices).toEqual(first.json.choices)
    expect(await entries()).toBe(before + 2)
  },
)

verifies('contract-29.message-instead', 'a new message rejects what is undecided, and makes nothing', async () => {
  const id = await twoWaiting()
  await scene.decide(id, [approve('c1')])
  scene.says('Never mind.')
  await scene.send(id, 'Forget it.')
  expect(paid()).toEqual([])
  expect(await callsOf(id)).toMatchObject([
    { decision: 'approve', ok: null },
    { decision: 'reject', ok: false },
  ])
  expect(await told()).toEqual([
    expect.stringContaining('was not made'),
    expect.stringContaining('new message instead'),
  ])
  scene.up.next(asks('', call('pay', 'c3', '{"amount":3}')))
  await scene.send(id, 'Pay another!')
  expect((await scene.session(id)).pending).toMatchObject([{ call_id: 'c3' }])
  scene.says('Done.')
  await scene.decide(id, [approve('c3')])
  expect(paid()).toEqual([3])
})

verifies(
  'contract-29.whole-or-not',
  'a message passes over what was decided likewise, and may not decide otherwise',
  async () => {
    const id = await scene.newSession()
    scene.up.next(asks('', call('weather', 'w1'), call('weather', 'w2')))
    await scene.send(id, 'Weather?', { tools: [weather] })
    await scene.decide(id, [respond('w1', 'sunny')])
    const tell = (first: string) =>
      scene.call('POST', `${scene.sessions}/${id}/chat/completions`, {
        messages: [
          { role: 'tool', tool_call_id: 'w1', content: first },
          { role: 'tool', tool_call_id: 'w2', content: 'windy' },
        ],
      })
    expect((await tell('rainy')).status).toBe(409)
    expect((await scene.session(id)).pending).toMatchObject([{ call_id: 'w2' }])
    scene.says('Both.')
    expect((await tell('sunny')).json.choices[0].message.content).toBe('Both.')
    expect(await told()).toEqual(['sunny', 'windy'])
  },
)

verifies('contract-29.unknown-fields', 'an unknown field inside a decision is 400 that names it', async () => {
  const id = await twoWaiting()
  const always = await scene.decide(id, [approve('c1'), { ...approve('c2'), always: true }])
  expect(always.status).toBe(400)
  expect(always.json.error.message).toBe('decisions.1.always: is unknown; did you mean decisions.1.remember?')
  const meant = await scene.decide(id, [{ ...reject('c1'), resaon: 'No.' }])
  expect(meant.json.error.message).toContain('did you mean decisions.0.reason?')
  expect((await scene.session(id)).pending).toHaveLength(2)
})

verifies(
  'contract-29.older-versions',
  'the first partial decision ends the compatibility of older versions',
  async () => {
    const oldest = async () => (await scene.app.sql`select oldest from compatibility`)[0]?.oldest
    await scene.app.sql`update compatibility set oldest = 33`
    const whole = await twoWaiting()
    scene.says('Done.')
    await scene.decide(whole, [approve('c1'), approve('c2')])
    expect(await oldest()).toBe(33)
    await scene.decide(await twoWaiting(), [approve('c1')])
    expect(await oldest()).toBe(85)
  },
)
