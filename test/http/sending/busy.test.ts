/** Contract section 4: one reply runs per session, `on_busy`, and messages that come at the same moment. */
import { afterAll, expect } from 'vitest'
import { refusedRequest } from '../../support/network/refused-request.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)

/** A session whose reply has said `Par` and stands still. */
async function running(extra: object = {}) {
  const id = await scene.newSession()
  const next = scene.byHand()
  const stream = await scene.stream(id, 'first', extra)
  const up = await next
  await stream.next()
  await up.text('Par')
  await stream.next()
  return { id, up, stream }
}

verifies('contract-4.busy', 'a second message is 409 with x-should-retry: false, and nothing is stored', async () => {
  const { id, up, stream } = await running()
  const calls = scene.up.calls.length
  for (const extra of [{}, { stream: true }, { on_busy: 'reject' }]) {
    const { status, headers, json } = await scene.send(id, 'second', extra)
    expect([status, headers.get('x-should-retry'), json]).toEqual([409, 'false', { error: expect.any(String) }])
  }
  expect((await scene.messages(id)).map(({ content }) => content)).toEqual(['first', 'Par'])
  await up.text('tial')
  await up.finish()
  expect(contentOf((await stream.rest()).frames)).toBe('Partial')
  expect(scene.up.calls.length).toBe(calls)
  scene.says(['ok'])
  expect((await scene.send(id, 'second')).status).toBe(200)
})

verifies('contract-4.busy', 'a reply that is not streamed is running too', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const whole = scene.send(id, 'first')
  const up = await next
  expect((await scene.send(id, 'second')).status).toBe(409)
  await up.text('a')
  await up.finish()
  expect((await whole).status).toBe(200)
})

verifies('contract-4.busy', 'sessions do not disturb each other', async () => {
  const { up, stream } = await running()
  scene.says(['ok'])
  expect((await scene.send(await scene.newSession(), 'x')).status).toBe(200)
  await up.finish()
  await stream.rest()
})

verifies(
  'contract-4.interrupt',
  'interrupt cancels the running reply, keeps its words and is then admitted',
  async () => {
    const { id, up, stream } = await running()
    scene.says(['new'])
    const second = await scene.send(id, 'second', { on_busy: 'interrupt' })
    expect([second.status, second.json.choices[0].message.content]).toEqual([200, 'new'])
    const { frames, broken } = await stream.rest()
    expect(broken).toBe(false)
    expect(JSON.parse(frames.at(-2)?.data ?? '').choices[0].finish_reason).toBe('stop')
    expect(frames.at(-1)?.data).toBe('[DONE]')
    await up.closed
    expect(up.abandoned).toBe(true)
    expect((await scene.messages(id)).map(({ content, finish_reason }) => [content, finish_reason])).toEqual([
      ['first', null],
      ['Par', 'cancelled'],
      ['second', null],
      ['new', 'stop'],
    ])
    expect(scene.up.calls.at(-1)?.body.messages.map(({ content }: { content: string }) => content)).toEqual([
      'first',
      'Par',
      'second',
    ])
  },
)

verifies('contract-4.interrupt', 'interrupt without a running reply is an ordinary message', async () => {
  scene.says(['ok'])
  const id = await scene.newSession()
  expect((await scene.send(id, 'x', { on_busy: 'interrupt' })).status).toBe(200)
})

verifies('contract-4.interrupt', 'other values of on_busy are 400, also when nothing runs', async () => {
  const id = await scene.newSession()
  for (const on_busy of ['queue', '', 'Interrupt', 1, true, {}, [], 'toString']) {
    const { status, json } = await scene.send(id, 'x', { on_busy })
    expect([on_busy, status, json]).toEqual([on_busy, 400, refusedRequest('on_busy')])
  }
  expect(await scene.messages(id)).toEqual([])
})

verifies('contract-4.busy', 'of messages that come at the same moment exactly one is admitted', async () => {
  for (let round = 0; round < 5; round += 1) {
    const id = await scene.newSession()
    const next = scene.byHand()
    const texts = Array.from({ length: 8 }, (_, index) => `m${index}`)
    const answers = texts.map((text) => scene.send(id, text))
    const up = await next
    // All but the one that waits for the model have their answer first.
    await expect
      .poll(async () => (await Promise.all(answers.map((one) => Promise.race([one, null])))).filter(Boolean).length)
      .toBe(7)
    await up.text('ok')
    await up.finish()
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 409, 409, 409, 409, 409, 409, 409])
    const messages = await scene.messages(id)
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  }
})

verifies(
  'contract-4.interrupt',
  'of interrupts that come at the same moment each is admitted or 409, and what is stored is in order',
  async () => {
    const { id, stream } = await running()
    scene.says(['ok'])
    const answers = await Promise.all(['a', 'b', 'c'].map((text) => scene.send(id, text, { on_busy: 'interrupt' })))
    await stream.rest()
    const statuses = answers.map(({ status }) => status)
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
    const admitted = statuses.filter((status) => status === 200).length
    expect(admitted).toBeGreaterThan(0)
    const messages = await scene.messages(id)
    expect(messages.map(({ role }) => role)).toEqual(
      Array.from({ length: admitted + 1 }, () => ['user', 'assistant']).flat(),
    )
    expect(messages.every(({ status }) => status === 'complete')).toBe(true)
  },
)

verifies(['contract-4.busy', 'contract-4.cancel'], 'a message right after a cancel is admitted', async () => {
  const { id, stream } = await running()
  expect((await scene.cancel(id)).status).toBe(204)
  scene.says(['next'])
  const { status, json } = await scene.send(id, 'second')
  expect([status, json.choices[0].message.content]).toEqual([200, 'next'])
  await stream.rest()
  expect((await scene.messages(id)).map(({ content }) => content)).toEqual(['first', 'Par', 'second', 'next'])
})

verifies('contract-4.busy', 'a message right after the last frame is admitted', async () => {
  scene.says(['a', 'b'])
  const id = await scene.newSession()
  for (let round = 0; round < 20; round += 1) {
    const stream = await scene.stream(id, `m${round}`)
    expect(stream.status).toBe(200)
    for (let frame = await stream.next(); frame && frame.data !== '[DONE]'; ) frame = await stream.next()
    stream.leave()
  }
  expect((await scene.messages(id)).length).toBe(40)
})
