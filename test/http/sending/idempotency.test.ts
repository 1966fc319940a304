/** Contract section 4: `Idempotency-Key`. */
import { afterAll, expect } from 'vitest'
import { refusedRequest } from '../../support/network/refused-request.ts'
import { verifies } from '../../verifies.ts'
import { openRepeatScene } from '../repeat-scene.ts'

const { scene, contents } = await openRepeatScene()
afterAll(scene.close)

const key = (name: string) => ({ 'idempotency-key': name })

verifies(
  'contract-4.idempotency',
  'the same key and body gets the finished reply, also after others came',
  async () => {
    const id = await scene.newSession()
    scene.says(['one'])
    const first = await scene.send(id, 'go', {}, key('a'))
    const stream = await scene.stream(id, 'next', {}, key('b'))
    await stream.rest()
    const calls = scene.up.calls.length
    expect((await scene.send(id, 'go', {}, key('a'))).json).toEqual(first.json)
    const again = await scene.stream(id, 'next', {}, key('b'))
    await again.rest()
    expect(again.raw()).toBe(stream.raw())
    expect(scene.up.calls.length).toBe(calls)
    expect((await contents(id)).length).toBe(4)
  },
)

verifies('contract-4.idempotency', 'another body under the same key is 400, in any part of it', async () => {
  const id = await scene.newSession()
  scene.says(['one'])
  await scene.send(id, 'go', {}, key('a'))
  for (const [text, extra] of [
    ['other', {}],
    ['go', { stream: true }],
    ['go', { model: 'm' }],
  ] as const) {
    const { status, json } = await scene.send(id, text, extra, key('a'))
    expect([text, extra, status, json]).toEqual([text, extra, 400, refusedRequest('Idempotency-Key')])
  }
  expect((await contents(id)).length).toBe(2)
})

verifies(
  'contract-4.idempotency',
  'keys belong to a session, have at most 255 characters and compare with case',
  async () => {
    scene.says(['one'])
    const [a, b] = [await scene.newSession(), await scene.newSession()]
    for (const id of [a, b]) expect((await scene.send(id, id, {}, key('same'))).status).toBe(200)
    expect((await scene.send(a, 'x', {}, key('SAME'))).status).toBe(200)
    expect((await scene.send(a, 'y', {}, key('k'.repeat(255)))).status).toBe(200)
    const { status, json } = await scene.send(a, 'z', {}, key('k'.repeat(256)))
    expect([status, json]).toEqual([400, refusedRequest('Idempotency-Key')])
    expect((await scene.send(a, 'w', {}, key(''))).status).toBe(200) // as none
    expect((await contents(a)).length).toBe(8)
  },
)

verifies(
  'contract-4.idempotency',
  'a failed reply is given again, whole and streamed, and is not tried again',
  async () => {
    const id = await scene.newSession()
    scene.up.always((one) => one.error(400, { error: { message: 'nope' } }))
    const first = await scene.send(id, 'go', {}, key('a'))
    const calls = scene.up.calls.length
    const again = await scene.send(id, 'go', {}, key('a'))
    expect([first.status, again.status, again.json]).toEqual([500, 500, first.json])
    expect(scene.up.calls.length).toBe(calls)
  },
)

verifies('contract-4.idempotency', 'a key is kept for 24 hours', async () => {
  const id = await scene.newSession()
  scene.says(['one'])
  await scene.send(id, 'go', {}, key('a'))
  for (const [passed, status] of [
    ['23 hours 59 minutes', 400],
    ['2 minutes', 200],
  ] as const) {
    await scene.app
      .sql`update idempotency_keys set created_at = created_at - ${passed}::interval where session_id = ${id}`
    expect([passed, (await scene.send(id, 'other', {}, key('a'))).status]).toEqual([passed, status])
  }
  expect((await contents(id)).length).toBe(4)
})

verifies(
  'contract-4.idempotency',
  'of requests with one key at the same moment one starts the reply, the others join',
  async () => {
    const id = await scene.newSession()
    scene.says(['one'])
    const answers = await Promise.all(Array.from({ length: 6 }, () => scene.send(id, 'go', {}, key('a'))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await contents(id)).toEqual(['go', 'one'])
  },
)

verifies(
  'contract-4.idempotency',
  'a body has the same hash in every release, so that a retry joins after an update',
  async () => {
    const id = await scene.newSession()
    scene.says(['one'])
    await scene.send(id, 'gö', { temperature: 0.5, metadata: { a: 'b' } }, key('pinned'))
    const [stored] = await scene.app
      .sql`select encode(body_hash, 'hex') as hash from idempotency_keys where session_id = ${id}`
    // Recorded. Keys are kept for 24 hours.
    expect(stored?.hash).toBe('3465a025c146ed18654199567b9eea7397a49b01abb0ce9531b151ee9d67c6cb')
  },
)
