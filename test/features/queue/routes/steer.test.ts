/** Contract section 22: messages that end the running reply at its next boundary, and queues of sessions that wait. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect } from 'vitest'
import { asks, says } from '../../../http/tool-scene.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { call, openWaitingScene, reject } from '../../approvals/routes/waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)

const queueOf = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}/queue`)).json.queue
const toldOf = async (id: string) =>
  (await scene.messages(id)).map(({ content, finish_reason }) => [content, finish_reason])

async function waiting(id: string, contents: string[]) {
  await expect
    .poll(async () => (await queueOf(id)).map(({ content }: { content: string }) => content))
    .toEqual(contents)
}

/** A session whose reply makes a call of `look`, whose answer is held. */
async function calling() {
  const id = await scene.newSession()
  const { promise: answered, resolve: answer } = Promise.withResolvers<string>()
  const made = Promise.withResolvers<void>()
  scene.answer(() => {
    made.resolve()
    return answered
  })
  scene.up.next(asks('Looking. ', call('look', 'l1')))
  const first = scene.send(id, 'first')
  await made.promise
  return { id, first, answer: () => answer('found') }
}

verifies(
  'contract-22.steer',
  'the reply ends at its boundary, and messages that steer go before those enqueued',
  async () => {
    const { id, first, answer } = await calling()
    const last = scene.send(id, 'last', { on_busy: 'enqueue' })
    await waiting(id, ['last'])
    const steer = await scene.stream(id, 'rather this', { on_busy: 'steer' })
    expect(steer.headers.get('x-queue-position')).toBe('1')
    await waiting(id, ['rather this', 'last'])
    const calls = scene.up.calls.length
    scene.says('this')
    scene.says('done')
    answer()
    const answerOfFirst = await first
    expect([answerOfFirst.json.choices[0].finish_reason, answerOfFirst.json.choices[0].message.content]).toEqual([
      'stop',
      'Looking. ',
    ])
    await steer.rest()
    await last
    expect(scene.up.calls.length - calls).toBe(2)
    const { messages } = (await scene.up.call(calls + 1)).body
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(await toldOf(id)).toEqual([
      ['first', null],
      ['Looking. ', 'steered'],
      ['rather this', null],
      ['this', 'stop'],
      ['last', null],
      ['done', 'stop'],
    ])
    const { transitions } = (
      await scene.call('GET', `/api/v1/debug/sessions/${id}/transitions?kind=transition&limit=100`)
    ).json
    expect(transitions.map(({ event }: { event: string }) => event)).toEqual([
      'message',
      'steered',
      'settled',
      'next',
      'finished',
      'settled',
      'next',
      'finished',
      'settled',
    ])
  },
)

verifies(['contract-22.steer', 'contract-24.events'], 'on the Responses API a steered reply is completed', async () => {
  const { id, first, answer } = await calling()
  const steer = await scene.stream(id, 'rather this', { on_busy: 'steer' })
  scene.says('this')
  answer()
  await first
  await steer.rest()
  const [, steered] = await scene.messages(id)
  const stream = await openSse(`${scene.app.url}${scene.agent}/deploy/responses/${steered.id}?stream=true`)
  await stream.rest()
  const events = stream.frames.map(({ data }) => JSON.parse(data))
  expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } })
  const items = events.filter(({ type }) => type === 'response.output_item.done')
  expect(items.map(({ item }) => [item.type, item.status])).toEqual([['message', 'completed']])
})

verifies('contract-22.steer', 'one that is removed before the boundary steers nothing', async () => {
  const { id, first, answer } = await calling()
  const steer = scene.send(id, 'never mind', { on_busy: 'steer' })
  await waiting(id, ['never mind'])
  const [message] = await queueOf(id)
  expect((await scene.call('DELETE', `${scene.sessions}/${id}/queue/${message.id}`)).status).toBe(204)
  expect((await steer).status).toBe(409)
  scene.says('found it')
  answer()
  expect((await first).json.choices[0].message.content).toBe('Looking. found it')
})

verifies('contract-22.steer', 'a reply without a further boundary ends by itself', async () => {
  const id = await scene.newSession()
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  scene.up.next(async (one) => {
    await one.text('so far')
    await goOn
    await one.finish()
  })
  const first = await scene.stream(id, 'first')
  await first.next()
  await first.next()
  const steer = scene.send(id, 'steer', { on_busy: 'steer' })
  await waiting(id, ['steer'])
  scene.says('after')
  resolve()
  await first.rest()
  expect((await steer).json.choices[0].message.content).toBe('after')
  expect((await toldOf(id))[1]).toEqual(['so far', 'stop'])
})

verifies('contract-22.waiting', 'in a session that waits, enqueue waits with it', async () => {
  const id = await scene.waiting()
  const later = scene.send(id, 'later', { on_busy: 'enqueue' })
  await waiting(id, ['later'])
  await pause(1500) // nothing begins it meanwhile
  await waiting(id, ['later'])
  scene.says('not paid')
  scene.says('later it is')
  expect((await scene.decide(id, [reject('c1')])).json.choices[0].message.content).toBe('not paid')
  expect((await later).json.choices[0].message.content).toBe('later it is')
})

verifies('contract-22.waiting', 'every other message rejects what is pending and goes first', async () => {
  for (const on_busy of ['steer', 'reject', 'interrupt']) {
    const id = await scene.waiting()
    const later = scene.send(id, 'later', { on_busy: 'enqueue' })
    await waiting(id, ['later'])
    scene.says('instead')
    scene.says('later it is')
    const now = await scene.send(id, 'now', { on_busy })
    expect([now.status, now.json.choices[0].message.content]).toEqual([200, 'instead'])
    await later
    expect((await toldOf(id)).map(([content]) => content)).toEqual([
      'Pay!',
      'Paying. ',
      'now',
      'instead',
      'later',
      'later it is',
    ])
  }
})

verifies(
  ['contract-22.waiting', 'contract-23.limits-order'],
  'what waits in the queue takes no place, with a picture as without one',
  async () => {
    const { json: made } = await scene.call('POST', '/api/v1/keys', {
      name: 'One at a time',
      scopes: ['deploy'],
      limits: { concurrentReplies: 1 },
    })
    const byKey = { authorization: `Bearer ${made.key}` }
    const id = await scene.waiting()
    const other = await scene.newSession()
    const { promise: goOn, resolve } = Promise.withResolvers<void>()
    scene.up.next(async (one) => {
      await one.text('Par')
      await goOn
      await one.finish()
    })
    const running = await scene.stream(other, 'first', {}, byKey)
    await running.next()
    const url =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const content = [
      { type: 'text', text: 'picture' },
      { type: 'image_url', image_url: { url } },
    ]
    const path = `${scene.sessions}/${id}/chat/completions`
    const messages = [{ role: 'user', content }]
    const answers = [
      scene.send(id, 'text', { on_busy: 'enqueue' }, byKey),
      scene.call('POST', path, { messages, on_busy: 'enqueue' }, byKey),
    ]
    await Promise.race([expect.poll(async () => (await queueOf(id)).length).toBe(2), ...answers])
    expect((await queueOf(id)).length).toBe(2)
    // One that would begin at once does take a place.
    const now = await scene.call('POST', path, { messages, on_busy: 'steer' }, byKey)
    expect([now.status, now.json.error]).toEqual([429, expect.stringContaining('at a time')])
    resolve()
    await running.rest()
    await scene.call('POST', `${path}/cancel`, { queue: 'clear' })
    for (const { status } of await Promise.all(answers)) expect(status).toBe(409)
  },
)

verifies('contract-22.waiting', 'a steered reply that comes to wait: its steering message rejects', async () => {
  const id = await scene.newSession()
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  scene.up.next(async (one) => {
    await one.text('Paying. ')
    await goOn
    await asks('', call('pay', 'c1', '{"amount":1}'))(one)
  })
  const first = await scene.stream(id, 'first')
  await first.next()
  await first.next()
  const steer = scene.send(id, 'do not', { on_busy: 'steer' })
  await waiting(id, ['do not'])
  scene.up.next(says('all right'))
  resolve()
  await first.rest()
  expect((await steer).json.choices[0].message.content).toBe('all right')
  expect((await scene.session(id)).pending).toEqual([])
})
