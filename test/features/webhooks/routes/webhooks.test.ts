/** Contract section 22: webhooks as a resource. */
import { afterAll, beforeAll, expect } from 'vitest'
import { nobody, openScene, type Scene } from '../../../http/scene.ts'
import { createAgent } from '../../../support/app.ts'
import { type Receiver, startReceiver } from '../../../support/network/receiver.ts'
import { verifies } from '../../../verifies.ts'

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
const create = (body: object = {}) =>
  scene.call('POST', path, { name: 'W', url: receiver.url, events: ['reply.completed'], ...body })
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/

verifies('contract-22.webhooks', 'made, read, listed, changed and deleted; the secret is shown once', async () => {
  const made = await create({ name: 'Orders', events: ['reply.completed', 'reply.failed', 'reply.completed'] })
  const { secret, ...record } = made.json
  expect(made.status).toBe(201)
  expect(secret).toMatch(secretForm)
  expect(made.headers.get('cache-control')).toBe('no-store')
  expect(record).toEqual({
    id: expect.any(String),
    name: 'Orders',
    url: receiver.url,
    events: ['reply.completed', 'reply.failed'],
    agentIds: null,
    enabled: true,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  })
  const one = `${path}/${record.id}`
  const read = await scene.call('GET', one)
  expect(read.json).toEqual(record)
  expect(read.headers.get('etag')).toBe(made.headers.get('etag'))
  const list = await scene.call('GET', `${path}?q=order`)
  expect(list.json).toEqual({ webhooks: [record], total: 1, limit: 20, offset: 0 })
  const changed = await scene.call('PUT', one, { ...record, enabled: false, agentIds: [scene.agentId] })
  expect(changed.json).toEqual({ ...record, enabled: false, agentIds: [scene.agentId], updatedAt: expect.any(String) })
  const late = await scene.call('PUT', one, { name: 'Late' }, { 'if-match': read.headers.get('etag') ?? '' })
  expect(late.status).toBe(412)
  const replaced = await scene.call('POST', `${one}/secret`)
  expect(replaced.status).toBe(200)
  expect(replaced.json).toEqual({ secret: expect.stringMatching(secretForm) })
  expect(replaced.json.secret).not.toBe(secret)
  const stored = await scene.app.sql`select secret, previous_secret from webhooks where id = ${record.id}`
  for (const shown of [secret, replaced.json.secret]) expect(JSON.stringify(stored)).not.toContain(shown)
  expect((await scene.call('DELETE', one)).status).toBe(204)
  expect((await scene.call('GET', one)).status).toBe(404)
})

verifies('contract-22.webhooks', 'wrong fields are 400 and name the field; unknown ids are 404', async () => {
  const wrong = [
    [{ name: '' }, 'name'],
    [{ url: 'ftp://x' }, 'url'],
    [{ url: 'http://user:word@x' }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['reply.started'] }, 'events'],
    [{ agentIds: [nobody] }, nobody],
    [{ agentIds: ['x'] }, 'agentIds'],
    [{ enabled: 'yes' }, 'enabled'],
    [{ event: [] }, 'event'],
    [{ secret: 'whsec_x' }, 'secret'],
  ] as const
  for (const [body, field] of wrong) {
    const answer = await create(body)
    expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining(field)])
  }
  const { id } = (await create()).json
  const given = await scene.call('PUT', `${path}/${id}`, { secret: 'whsec_x' })
  expect([given.status, given.json.message]).toEqual([400, expect.stringContaining('secret')])
  for (const missing of ['name', 'url', 'events']) expect((await create({ [missing]: undefined })).status).toBe(400)
  const one = `${path}/${nobody}`
  const asked = [
    ['GET', one],
    ['PUT', one, {}],
    ['DELETE', one],
    ['POST', `${one}/secret`],
    ['POST', `${one}/test`],
    ['GET', `${one}/deliveries`],
    ['POST', `${one}/deliveries/${nobody}/redeliver`],
    ['GET', `${path}/x/deliveries`],
  ] as const
  for (const [method, url, body] of asked) expect((await scene.call(method, url, body)).status).toBe(404)
})

verifies(['contract-22.webhooks', 'contract-23.audit'], 'each change leaves an entry, without the secret', async () => {
  const made = await create({ name: 'Audited' })
  const one = `${path}/${made.json.id}`
  await scene.call('PUT', one, { enabled: false })
  const { secret } = (await scene.call('POST', `${one}/secret`)).json
  await scene.call('DELETE', one)
  const { entries } = (await scene.call('GET', '/api/v1/audit?kind=webhook&q=Audited')).json
  expect(entries.map(({ action }: { action: string }) => action)).toEqual(['delete', 'update', 'update', 'create'])
  expect(entries[1].changes).toEqual({ secret: { from: '***', to: '***' } })
  expect(entries[2].changes).toEqual({ enabled: { from: true, to: false } })
  expect(entries[3].changes.secret).toEqual({ from: null, to: '***' })
  expect(JSON.stringify(entries)).not.toContain(secret)
  expect(JSON.stringify(entries)).not.toContain(made.json.secret)
})

verifies('contract-22.webhook-agents', 'a deleted agent leaves the list, which then means none', async () => {
  const { agentId } = await createAgent(scene.app, { name: 'Leaving' })
  const made = await create({ agentIds: [agentId.toUpperCase()] })
  expect(made.json.agentIds).toEqual([agentId])
  expect((await scene.call('DELETE', `/api/v1/agents/${agentId}`)).status).toBe(204)
  expect((await scene.call('GET', `${path}/${made.json.id}`)).json.agentIds).toEqual([])
  scene.says(['Hi'])
  await scene.send(await scene.newSession(), 'hello')
  const list = await scene.call('GET', `${path}/${made.json.id}/deliveries`)
  expect(list.json).toEqual({ deliveries: [], total: 0, limit: 20, offset: 0 })
})

verifies('contract-22.webhook-test', 'ping is sent once, signed, and its answer told', async () => {
  const made = await create()
  receiver.received.length = 0
  receiver.answers(() => 202)
  const good = await scene.call('POST', `${path}/${made.json.id}/test`)
  expect(good.json).toEqual({ ok: true, status: 202, latencyMs: expect.any(Number), message: expect.any(String) })
  // Other webhooks of this file are told of replies at the same address.
  const pings = receiver.received.filter(({ json }) => json.type === 'ping')
  expect(pings.map(({ headers }) => headers['webhook-signature'])).toEqual([expect.stringMatching(/^v1,/)])
  receiver.answers(() => 500)
  const bad = await scene.call('POST', `${path}/${made.json.id}/test`)
  expect(bad.json).toMatchObject({ ok: false, status: 500, message: expect.stringContaining('500') })
  await scene.call('PUT', `${path}/${made.json.id}`, { url: 'http://169.254.169.254/' })
  const refused = await scene.call('POST', `${path}/${made.json.id}/test`)
  expect(refused.json).toMatchObject({ ok: false, status: null, message: expect.stringContaining('not allowed') })
  await scene.app.sql`update webhooks set secret = 'v1.gone.x.y' where id = ${made.json.id}`
  const unreadable = await scene.call('POST', `${path}/${made.json.id}/test`)
  expect(unreadable.json).toMatchObject({ ok: false, status: null, message: expect.stringContaining('decrypted') })
  expect((await scene.call('GET', `${path}/${made.json.id}/deliveries`)).json.total).toBe(0)
  receiver.answers(() => 204)
})
