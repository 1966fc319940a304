/** Contract section 22: what webhooks are told, and how. */
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { openScene, type Scene } from '../../../http/scene.ts'
import { type Received, type Receiver, startReceiver } from '../../../support/network/receiver.ts'
import { verifies } from '../../../verifies.ts'
import { signature } from './signature.ts'

let scene: Scene
let receiver: Receiver
beforeAll(async () => {
  scene = await openScene({ settings: {} })
  receiver = await startReceiver()
})
afterAll(async () => {
  await scene.close()
  await receiver.close()
})

const path = '/api/v1/webhooks'
const events = ['reply.completed', 'reply.failed', 'reply.cancelled', 'reply.waiting', 'session.deleted']
interface Hook {
  id: string
  secret: string
}
const create = async (body: object = {}): Promise<Hook> => {
  const made = await scene.call('POST', path, { name: 'W', url: receiver.url, events, ...body })
  if (made.status !== 201) throw new Error(made.text)
  return made.json
}
const deliveries = async ({ id }: Hook) => (await scene.call('GET', `${path}/${id}/deliveries`)).json.deliveries
/** Those that are pending are due now, without waiting for their time. */
const hurry = ({ id }: Hook) =>
  scene.app.sql`update webhook_deliveries set next_attempt_at = clock_timestamp()
                 where webhook_id = ${id} and status = 'pending' and next_attempt_at > clock_timestamp()`
const settled = async (hook: Hook, status: string) =>
  expect.poll(async () => (await deliveries(hook)).map((one: { status: string }) => one.status)).toEqual([status])

beforeEach(async () => {
  await scene.app.sql`delete from webhooks`
  receiver.received.length = 0
  receiver.answers(() => 204)
  scene.says(['Hello'])
})

verifies('contract-22.webhook-events', 'a whole reply is told once, without its content', async () => {
  const hook = await create()
  const made = await scene.call('POST', scene.sessions, { user: 'ann', metadata: { plan: 'pro' } })
  const sessionId = made.json.id
  await scene.send(sessionId, 'hello')
  const [, reply] = await scene.messages(sessionId)
  await settled(hook, 'delivered')
  expect(receiver.received).toHaveLength(1)
  const [{ headers, body, json } = {} as Received] = receiver.received
  expect(json).toEqual({
    type: 'reply.completed',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    data: {
      agent_id: scene.agentId,
      session_id: sessionId,
      message_id: reply.id,
      user: 'ann',
      metadata: { plan: 'pro' },
      status: 'complete',
      finish_reason: 'stop',
      error: null,
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
      },
    },
  })
  expect(body).not.toContain('Hello')
  expect(headers['content-type']).toBe('application/json')
  const [delivery] = await deliveries(hook)
  expect(headers['webhook-id']).toBe(delivery.id)
  expect(delivery).toEqual({
    id: expect.any(String),
    type: 'reply.completed',
    messageId: reply.id,
    sessionId,
    status: 'delivered',
    attempts: 1,
    lastStatus: 204,
    lastError: null,
    nextAttemptAt: null,
    createdAt: expect.any(String),
  })
})

verifies('contract-22.webhook-events', 'failed, cancelled and waiting replies and deleted sessions too', async () => {
  const hook = await create()
  const failed = await scene.newSession()
  scene.up.always((one) => one.error(400))
  await scene.send(failed, 'fail')
  const cancelled = await scene.newSession()
  const byHand = scene.byHand()
  const stream = await scene.stream(cancelled, 'long')
  await (await byHand).text('Well')
  await scene.cancel(cancelled)
  await stream.rest()
  const waiting = await scene.newSession()
  const tools = [{ type: 'function', function: { name: 'ask', parameters: { type: 'object' } } }]
  scene.up.always(async (one) => {
    await one.toolCall({ name: 'ask', arguments: '{}' })
    await one.finish('tool_calls')
  })
  await scene.send(waiting, 'ask', { tools })
  await scene.call('DELETE', `${scene.sessions}/${await scene.newSession()}`) // it never had a message
  const { id: running } = (await scene.call('POST', scene.sessions, { user: 'ann', metadata: { plan: 'pro' } })).json
  const next = scene.byHand()
  const cut = await scene.stream(running, 'cut')
  await (await next).text('Well')
  await scene.call('DELETE', `${scene.sessions}/${running}`)
  await cut.rest()
  await expect
    .poll(() => receiver.received.map(({ json }) => `${json.type} ${json.data.session_id}`).toSorted())
    .toEqual(
      [
        `reply.failed ${failed}`,
        `reply.cancelled ${cancelled}`,
        `reply.waiting ${waiting}`,
        `session.deleted ${running}`,
      ].toSorted(),
    )
  const told = new Map(receiver.received.map(({ json }) => [json.type, json.data]))
  expect(told.get('reply.failed')).toMatchObject({
    status: 'error',
    finish_reason: 'error',
    error: { code: 'provider_error', message: expect.any(String) },
  })
  expect(told.get('reply.cancelled')).toMatchObject({ status: 'complete', finish_reason: 'cancelled', error: null })
  expect(told.get('reply.waiting')).toMatchObject({ status: 'complete', finish_reason: 'tool_calls' })
  expect(told.get('session.deleted')).toEqual({
    agent_id: scene.agentId,
    session_id: running,
    message_id: null,
    user: null,
    metadata: null,
    status: null,
    finish_reason: null,
    error: null,
    usage: null,
  })
  expect(await deliveries(hook)).toHaveLength(4)
})

verifies('contract-22.webhook-events', 'what a sweep settles, and only what was asked for', async () => {
  const hook = await create({ events: ['reply.failed'], agentIds: [scene.agentId] })
  const others = await create({ events: ['reply.completed', 'session.deleted'] })
  const sessionId = await scene.newSession()
  const replyId = crypto.randomUUID()
  await scene.app.sql`
    insert into messages (id, session_id, session_num, position, role, status, first_seq, include_usage, instance_id, epoch)
    select ${replyId}, id, num, 0, 'assistant', 'streaming', 1, false, ${crypto.randomUUID()}, 1
      from sessions where id = ${sessionId}`
  await settled(hook, 'delivered')
  expect(receiver.received.map(({ json }) => json.data)).toEqual([
    expect.objectContaining({ message_id: replyId, error: { code: 'instance_lost', message: expect.any(String) } }),
  ])
  expect(await deliveries(others)).toEqual([])
})

verifies('contract-22.webhook-signatures', "the `openai` package's unwrap verifies them unmodified", async () => {
  const hook = await create()
  await scene.send(await scene.newSession(), 'hello')
  await settled(hook, 'delivered')
  const [received = {} as Received] = receiver.received
  const client = new OpenAI({ apiKey: 'none', webhookSecret: hook.secret })
  const event: unknown = await client.webhooks.unwrap(received.body, received.headers)
  expect(event).toEqual(received.json)
  await expect(client.webhooks.unwrap(`${received.body} `, received.headers)).rejects.toThrow()
})

verifies('contract-22.webhook-signatures', 'the newest two secrets sign for a day', async () => {
  const hook = await create()
  const replace = async () => (await scene.call('POST', `${path}/${hook.id}/secret`)).json.secret
  const second = await replace()
  const third = await replace()
  for (const [hours, secrets] of [
    [0, [third, second]],
    [23, [third, second]],
    [2, [third]],
  ] as const) {
    await scene.app.sql`update webhooks set previous_until = previous_until - make_interval(hours => ${hours})`
    await scene.call('POST', `${path}/${hook.id}/test`)
    const newest = receiver.received.at(-1) ?? ({} as Received)
    const signed = secrets.map((secret) => signature(secret, newest)).join(' ')
    expect([hours, newest.headers['webhook-signature']]).toEqual([hours, signed])
  }
})

verifies(
  'contract-22.webhook-retries',
  'a receiver that fails is asked again, later each time, then no more',
  async () => {
    const hook = await create()
    receiver.answers(() => 500)
    await scene.send(await scene.newSession(), 'hello')
    const waits: number[] = []
    for (let attempt = 1; attempt <= 7; attempt++) {
      // An attempt that runs is not one that has failed.
      const waitOf = async () => {
        const [row] = await scene.app.sql<{ wait: number }[]>`
        select round(extract(epoch from next_attempt_at - clock_timestamp()))::integer as wait from webhook_deliveries
         where webhook_id = ${hook.id} and failures = ${attempt} and last_status = 500`
        return row?.wait ?? null
      }
      await expect.poll(waitOf).not.toBeNull()
      waits.push((await waitOf()) ?? 0)
      await hurry(hook)
    }
    const said = [5, 300, 1800, 7200, 18_000, 36_000, 86_400]
    for (const [n, seconds] of said.entries()) {
      expect(waits[n]).toBeLessThanOrEqual(seconds)
      expect(waits[n]).toBeGreaterThan(said[n - 1] ?? -1)
    }
    await settled(hook, 'failed')
    expect((await deliveries(hook))[0]).toMatchObject({ attempts: 8, nextAttemptAt: null })
    const [first, ...rest] = receiver.received
    expect(rest.map(({ body, headers }) => [body, headers['webhook-id']])).toEqual(
      rest.map(() => [first?.body, first?.headers['webhook-id']]),
    )
    receiver.answers(() => 200)
    const [delivery] = await deliveries(hook)
    const again = await scene.call('POST', `${path}/${hook.id}/deliveries/${delivery.id}/redeliver`)
    expect([again.status, again.text]).toEqual([202, ''])
    await settled(hook, 'delivered')
  },
)

verifies('contract-22.webhook-retries', 'no redirect is followed, and 410 disables the webhook', async () => {
  const hook = await create()
  receiver.answers(() => 302)
  await scene.send(await scene.newSession(), 'hello')
  await expect.poll(async () => (await deliveries(hook))[0]).toMatchObject({ status: 'pending', lastStatus: 302 })
  expect(receiver.received.map((one) => one.path)).toEqual(['/'])
  receiver.answers(() => 410)
  await hurry(hook)
  await settled(hook, 'failed')
  await expect.poll(async () => (await scene.call('GET', `${path}/${hook.id}`)).json.enabled).toBe(false)
  const { entries } = (await scene.call('GET', `/api/v1/audit?kind=webhook&q=${hook.id}`)).json
  expect(entries[0]).toMatchObject({
    actorKind: 'system',
    action: 'update',
    changes: { enabled: { from: true, to: false } },
  })
})

verifies('contract-22.webhook-enabled', 'disabled: nothing is recorded, and what is pending waits', async () => {
  const hook = await create()
  receiver.answers(() => 500)
  await scene.send(await scene.newSession(), 'hello')
  await expect.poll(async () => (await deliveries(hook))[0]?.lastStatus).toBe(500)
  await scene.call('PUT', `${path}/${hook.id}`, { enabled: false })
  receiver.answers(() => 204)
  await hurry(hook)
  await scene.send(await scene.newSession(), 'unheard')
  expect(await deliveries(hook)).toMatchObject([{ status: 'pending', attempts: 1, nextAttemptAt: null }])
  await scene.call('PUT', `${path}/${hook.id}`, { enabled: true })
  await settled(hook, 'delivered')
  expect(receiver.received).toHaveLength(2)
})

verifies('contract-22.webhook-isolation', 'receivers that hang hold up no other', async () => {
  await using hanging = await startReceiver()
  hanging.answers(() => null)
  const stuck = await create({ url: hanging.url })
  const hook = await create()
  const sessions = await Promise.all(Array.from({ length: 10 }, () => scene.newSession()))
  // At once: they are told within 15 s, when the first of the others is given up.
  await Promise.all(sessions.map((session) => scene.send(session, 'hello')))
  const told = async () =>
    (await deliveries(hook)).filter((one: { status: string }) => one.status === 'delivered').length
  // All of them are through while not one of the others has been given up.
  await expect.poll(told).toBe(10)
  expect(hanging.received.length).toBeLessThanOrEqual(8)
  expect((await deliveries(stuck)).every((one: { lastError: null }) => one.lastError === null)).toBe(true)
})

verifies('contract-22.webhook-deliveries', 'newest first, in pages', async () => {
  const hook = await create()
  for (let n = 0; n < 3; n++) await scene.send(await scene.newSession(), `hello ${n}`)
  await expect.poll(() => receiver.received.length).toBe(3)
  const all = await deliveries(hook)
  const page = (await scene.call('GET', `${path}/${hook.id}/deliveries?limit=1&offset=1`)).json
  expect(page).toMatchObject({ total: 3, limit: 1, offset: 1, deliveries: [{ id: all[1].id }] })
})

verifies('contract-22.webhook-cost', 'without a webhook that is enabled no row is written', async () => {
  await create({ enabled: false })
  const sessionId = await scene.newSession()
  await scene.send(sessionId, 'hello')
  await scene.call('DELETE', `${scene.sessions}/${sessionId}`)
  const [row] = await scene.app.sql<{ told: number }[]>`
    select count(*)::integer as told from webhook_deliveries where session_id = ${sessionId}`
  expect(row?.told).toBe(0)
})
