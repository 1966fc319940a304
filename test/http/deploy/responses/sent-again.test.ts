/** Requests to POST …/deploy/responses that are sent once more, where they make a conversation (contract sections 4 and 24). */
import { afterAll, afterEach, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene()
const { create } = scene
afterAll(scene.close)
afterEach(() => scene.up.forget())

verifies(
  ['contract-24.create', 'contract-4.idempotency'],
  'the same key and body join the first response, in its conversation',
  async () => {
    scene.says(['once'])
    const key = { 'idempotency-key': 'the-key' }
    const [first, again] = [await create({ input: 'x' }, key), await create({ input: 'x' }, key)]
    expect(again.json).toEqual(first.json)
    const rich = { input: 'x', metadata: { a: 'b' } }
    const other = { 'idempotency-key': 'another' }
    const [one, two] = [await create(rich, other), await create(rich, other)]
    expect(two.json).toEqual(one.json)
    expect((await create({ input: 'y' }, key)).status).toBe(400)
  },
)

verifies(
  ['contract-24.create', 'contract-4.idempotency'],
  'a key that is kept no more begins a conversation of its own, with all that the request brings',
  async () => {
    scene.says(['ok'])
    const key = { 'idempotency-key': 'once-a-day' }
    const input = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' },
    ]
    const send = async () => (await create({ input, metadata: { a: 'b' } }, key)).json
    const seen: string[] = []
    // Nothing is left of the key when its response is deleted, nor after a day.
    for (const forget of [
      ({ id }: { id: string }) => scene.call('DELETE', `${scene.responses}/${id}`),
      () => scene.app.sql`update idempotency_keys set created_at = created_at - interval '25 hours'`,
      () => scene.app.sql`delete from idempotency_keys`,
    ]) {
      const made = await send()
      const session = sessionOf(made.conversation.id)
      expect(await send()).toEqual(made)
      const contents = (await scene.messages(session)).map(({ content }) => content)
      expect(contents).toEqual(['one', 'two', 'three', 'ok'])
      expect((await scene.call('GET', `${scene.sessions}/${session}`)).json.metadata).toEqual({ a: 'b' })
      expect(seen).not.toContain(session)
      seen.push(session)
      await forget(made)
    }
  },
)
