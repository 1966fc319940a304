/** Cancels that are written when the reply that they were meant for has ended, and the next one of the queue runs. */
import { afterAll, expect } from 'vitest'
import { openToolScene, says } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { running, waiting } from './queue-scene.ts'

const scene = await openToolScene({ settings: {} })
afterAll(scene.close)

/** Ends the running reply while a cancel, decided on while it ran, waits to be written into `table`. The next one has begun. */
async function endBefore<T>(
  cancel: () => Promise<T>,
  { end, table = 'intents' }: { end(): Promise<void>; table?: string },
): Promise<{ cancelled: Promise<T> }> {
  const calls = scene.up.calls.length
  return await scene.app.sql.begin(async (tx) => {
    await tx`lock table ${tx(table)} in share mode`
    const cancelled = cancel()
    const waits = async () =>
      (await tx`select 1 from pg_locks where relation = ${table}::regclass and not granted`).length
    await expect.poll(waits).toBe(1)
    await end()
    await scene.up.call(calls + 1)
    return { cancelled }
  })
}

/** The next reply says a part and stands still until `goOn`. */
function holdNext() {
  const { promise, resolve } = Promise.withResolvers<void>()
  scene.up.next(async (one) => {
    await one.text('all ')
    await promise
    await one.text('of it')
    await one.finish()
  })
  return { goOn: resolve }
}

verifies(
  ['contract-24.cancel', 'contract-22.cancel'],
  'the cancel of a response ends no other one that has begun behind it',
  async () => {
    const { id, end } = await running(scene)
    const responses = `${scene.agent}/deploy/responses`
    const [, first] = await scene.messages(id)
    const body = { input: 'second', conversation: id, on_busy: 'enqueue', background: true }
    const second = (await scene.call('POST', responses, body)).json
    const { goOn } = holdNext()
    const { cancelled } = await endBefore(() => scene.call('POST', `${responses}/${first.id}/cancel`), { end })
    expect((await cancelled).json).toMatchObject({ status: 'completed' })
    goOn()
    const read = async () => (await scene.call('GET', `${responses}/${second.id}`)).json
    await expect.poll(async () => (await read()).status).not.toBe('in_progress')
    expect(await read()).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'all of it' }] }] })
  },
)

verifies('contract-32.queued-cancel', 'a queued response that begins meanwhile is cancelled as ever', async () => {
  const { id, end } = await running(scene)
  const responses = `${scene.agent}/deploy/responses`
  const body = { input: 'second', conversation: id, on_busy: 'enqueue', background: true }
  const path = `${responses}/${(await scene.call('POST', responses, body)).json.id}`
  scene.up.next((one) => one.text('all '))
  const cancel = () => scene.call('POST', `${path}/cancel`)
  const { cancelled } = await endBefore(cancel, { end, table: 'dequeued_responses' })
  expect((await cancelled).json.status).toBe('cancelled')
  expect((await scene.call('DELETE', path)).status).toBe(200)
  // The row of the queue hides the note of the cancel until the queue is tended.
  await expect.poll(async () => (await scene.app.sql`select 1 from queued_messages`).length).toBe(0)
  expect((await scene.call('GET', path)).status).toBe(404)
})

verifies('contract-22.interrupt', 'a message that has begun by itself does not interrupt its own reply', async () => {
  const { id, end } = await running(scene)
  const later = scene.send(id, 'later', { on_busy: 'enqueue' })
  await waiting(scene, id, 1)
  const { goOn } = holdNext()
  scene.up.next(says('later it is'))
  const { cancelled } = await endBefore(async () => scene.send(id, 'now', { on_busy: 'interrupt' }), { end })
  goOn()
  expect((await cancelled).json.choices[0].message.content).toBe('all of it')
  expect((await later).json.choices[0].message.content).toBe('later it is')
})
