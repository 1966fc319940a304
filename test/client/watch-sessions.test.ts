/** Sessions that are followed, and webhooks that are verified, through the client. */
import { expect } from 'vitest'
import { type SessionChange, verifyWebhook, WebhookVerificationError } from '../../packages/client/src/index.ts'
import { startReceiver } from '../support/network/receiver.ts'
import { verifies } from '../verifies.ts'
import { openClientScene } from './scene.ts'

const scene = await openClientScene()
const { agent } = scene
scene.says(['Fine.'])

const read = async (watched: AsyncGenerator<SessionChange, void>): Promise<SessionChange> => {
  const { value } = await watched.next()
  if (!value) throw new Error('The stream has ended.')
  return value
}

verifies('contract-22.client', 'watchSessions goes on behind a list, over broken connections', async () => {
  const session = agent.session(null, { user: 'ann', title: 'Mine' })
  await session.create()
  const list = await agent.sessions({ user: 'ann' })
  expect(list.sessions.map(({ id }) => id)).toEqual([session.id])
  await session.patch({ title: 'Changed' })
  const watched = agent.watchSessions({ user: 'ann', lastEventId: list.lastEventId })
  expect(await read(watched)).toEqual({
    type: 'changed',
    session: expect.objectContaining({ id: session.id, title: 'Changed', status: 'idle', queued: 0 }),
    lastEventId: expect.stringMatching(/^\d+$/),
  })
  scene.proxy.drop()
  await scene.call('POST', scene.sessions, { user: 'ben' })
  await scene.call('DELETE', `${scene.sessions}/${session.id}`)
  expect(await read(watched)).toMatchObject({ type: 'deleted', id: session.id })
  await watched.return()
})

verifies('contract-22.client', 'from now on: a break before the first change loses none', async () => {
  const opened = Promise.withResolvers<void>()
  const watched = agent.watchSessions({ onConnection: (state) => state === 'open' && opened.resolve() })
  const first = read(watched)
  await opened.promise
  scene.proxy.drop()
  const made = await scene.call('POST', scene.sessions, { title: 'Made meanwhile' })
  expect(await first).toMatchObject({ type: 'changed', session: { id: made.json.id } })
  await watched.return()
})

verifies('contract-22.client', 'verifyWebhook takes what the server sends, and nothing else', async () => {
  await using receiver = await startReceiver()
  const made = await scene.call('POST', '/api/v1/webhooks', {
    name: 'W',
    url: receiver.url,
    events: ['reply.completed'],
  })
  const { id, secret } = made.json
  await scene.call('POST', `/api/v1/webhooks/${id}/test`)
  const [received] = receiver.received
  if (received === undefined) throw new Error('Nothing was sent.')
  const { body, headers } = received
  expect(await verifyWebhook(body, headers, secret)).toEqual(received.json)
  expect(await verifyWebhook(body, new Headers(headers), ['whsec_b3RoZXI=', secret])).toEqual(received.json)
  // An unset variable beside the secret.
  expect(await verifyWebhook(body, headers, ['', secret])).toEqual(received.json)
  const late = `${Number(headers['webhook-timestamp']) - 301}`
  const bad = [
    [`${body} `, headers, secret],
    [body, headers, 'whsec_b3RoZXI='],
    [body, { ...headers, 'webhook-timestamp': late }, secret],
    [body, { ...headers, 'webhook-signature': 'v1,!' }, secret],
    [body, {}, secret],
    [body, headers, ''],
  ] as const
  for (const [sent, given, known] of bad)
    await expect(verifyWebhook(sent, given, known)).rejects.toBeInstanceOf(WebhookVerificationError)
})
