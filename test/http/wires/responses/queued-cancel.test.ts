/** The cancel of a response whose message is in the queue (contract section 32). */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene()
const { create } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

verifies(
  'contract-32.queued-cancel',
  'it reads as cancelled afterwards, and nothing of it is in the path',
  async () => {
    const running = scene.byHand()
    const first = (await create({ input: 'long', background: true })).json
    const one = await running
    const { conversation } = first
    const asked = { input: 'next', conversation, on_busy: 'enqueue', background: true, metadata: { a: 'b' } }
    const queued = (await create(asked)).json
    expect(queued.status).toBe('queued')
    const path = `${scene.responses}/${queued.id}`
    const cancelled = await scene.call('POST', `${path}/cancel`)
    expect([cancelled.status, cancelled.json]).toEqual([200, { ...queued, status: 'cancelled', output: [] }])
    expect((await scene.call('GET', path)).json).toEqual(cancelled.json)
    expect((await scene.call('POST', `${path}/cancel`)).json).toEqual(cancelled.json)
    expect((await create({ input: 'x', previous_response_id: queued.id })).json.error.code).toBe(
      'previous_response_not_found',
    )
    const deleted = (await create({ ...asked, input: 'deleted' })).json
    expect((await scene.call('DELETE', `${scene.responses}/${deleted.id}`)).json.deleted).toBe(true)
    await one.text('over')
    await one.finish('stop')
    await expect
      .poll(async () => (await scene.call('GET', `${scene.responses}/${first.id}`)).json.status)
      .toBe('completed')
    expect((await scene.messages(sessionOf(conversation.id))).map(({ content }) => content)).toEqual(['long', 'over'])
    expect((await scene.call('DELETE', path)).status).toBe(200)
    expect((await scene.call('GET', path)).status).toBe(404)
  },
)

verifies('contract-32.queued-cancel', 'after 24 hours it is 404', async () => {
  const running = scene.byHand()
  const { conversation } = (await create({ input: 'long', background: true })).json
  const one = await running
  const queued = (await create({ input: 'next', conversation, on_busy: 'enqueue', background: true })).json
  const path = `${scene.responses}/${queued.id}`
  await scene.call('POST', `${path}/cancel`)
  for (const [hours, status] of [
    [23, 200],
    [2, 404],
  ] as const) {
    await scene.app.sql`update dequeued_responses set at = at - make_interval(hours => ${hours})`
    expect([hours, (await scene.call('GET', path)).status]).toEqual([hours, status])
  }
  await one.finish('stop')
})
