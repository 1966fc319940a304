/** Contract section 25: fields that a session, or a client secret, does not have. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { nobody, openScene } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)

const create = (body: unknown) => scene.call('POST', scene.sessions, body)
const patch = (id: string, body: unknown) => scene.call('PATCH', `${scene.sessions}/${id}`, body)

verifies(
  'contract-25.unknown-fields',
  'a field that a session does not have is named, and nothing is made',
  async () => {
    const total = async () => (await scene.call('GET', scene.sessions)).json.total
    const before = await total()
    for (const [body, named] of [
      [{ userId: 'ada' }, 'userId'],
      [{ meta: {} }, 'meta'],
      [{ fork_of: { session_id: nobody, messageId: nobody } }, 'fork_of.messageId'],
    ] as const) {
      const { status, json } = await create(body)
      expect([body, status, json.error.param]).toEqual([body, 400, named])
    }
    expect(await total()).toBe(before)
    const { json } = await create({
      metadata: { any: 'name' },
      messages: [{ role: 'user', content: 'x', name: 'ada' }],
    })
    for (const body of [{ user: 'ada' }, { Title: 'x' }]) expect((await patch(json.id, body)).status).toBe(400)
    const secrets = `${scene.agent}/deploy/client_secrets`
    for (const body of [
      { user: 'ada', sessionId: json.id },
      { user: 'ada', expires_after: { minutes: 5 } },
    ]) {
      expect([body, (await scene.call('POST', secrets, body)).status]).toEqual([body, 400])
    }
    expect((await scene.call('POST', secrets, { user: 'ada', expires_after: { seconds: 20 } })).status).toBe(201)
  },
)
