/** Contract section 26: how much a session, and all those of a user, may hold. */
import { afterAll, expect } from 'vitest'
import { image, pngOf } from '../../features/parts/routes/parts-scene.ts'
import { verifies } from '../../verifies.ts'
import { openScene, type Scene } from '../scene.ts'

const limited = await openScene({ settings: { MAX_SESSION_BYTES: '10000', MAX_USER_BYTES: '15000' } })
afterAll(limited.close)
limited.up.always(async (one) => {
  await one.text('12345')
  await one.finish()
})

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const post = (scene: Scene, id: string, body: object) =>
  scene.call('POST', `${scene.sessions}/${id}/chat/completions`, body)
const make = async (body: object) => await limited.call('POST', limited.sessions, body)
const stored = async (id: string) => (await limited.messages(id)).length
const full = { error: expect.stringContaining('MAX_SESSION_BYTES') }
const userFull = { error: expect.stringContaining('MAX_USER_BYTES') }

verifies('contract-26.stored-bytes', 'texts, replies and parts count, to the byte', async () => {
  const id = (await make({})).json.id
  expect((await post(limited, id, user('x'.repeat(4000)))).status).toBe(200)
  expect((await post(limited, id, user([{ type: 'text', text: 'a' }, image(pngOf(5000))]))).status).toBe(200)
  // 4,000 + 5 + 1 + 5,000 + 5 are stored.
  const refused = await post(limited, id, user('x'.repeat(990)))
  expect([refused.status, refused.json]).toEqual([413, full])
  expect(await stored(id)).toBe(4)
  expect((await post(limited, id, user('x'.repeat(989)))).status).toBe(200)
  // Its own reply has brought it beyond: nothing more, and no other reply either.
  expect((await post(limited, id, user('x'))).status).toBe(413)
  expect((await post(limited, id, { regenerate: true })).status).toBe(413)
  expect(await stored(id)).toBe(6)
})

verifies(
  'contract-26.stored-bytes',
  'a history, a chat’s first message and the playground’s are held to it',
  async () => {
    const history = [{ role: 'user', content: 'x'.repeat(10_001) }]
    expect([(await make({ messages: history })).status, (await make({ messages: history })).json]).toEqual([413, full])
    const chat = crypto.randomUUID()
    const message = { role: 'user', parts: [{ type: 'text', text: 'x'.repeat(10_001) }] }
    const begun = await limited.call('POST', `${limited.agent}/deploy/ai-sdk`, { id: chat, messages: [message] })
    expect(begun.status).toBe(413)
    expect((await limited.call('GET', `${limited.sessions}/${chat}`)).status).toBe(404)
    const played = await limited.call('POST', `${limited.agent}/playground/chat`, { message: 'x'.repeat(10_001) })
    expect([played.status, typeof played.json.message]).toEqual([413, 'string'])
  },
)

verifies(
  'contract-26.stored-bytes',
  'forks of what a user has are refused when they are too much together',
  async () => {
    const messages = [{ role: 'user', content: 'x'.repeat(6000) }]
    const { id } = (await make({ user: 'anna', messages })).json
    const fork = { fork_of: { session_id: id } }
    const forks = await Promise.all(Array.from({ length: 6 }, () => make(fork)))
    expect(forks.map(({ status }) => status).sort()).toEqual([201, 413, 413, 413, 413, 413])
    expect(forks.find(({ status }) => status === 413)?.json).toEqual(userFull)
    const list = await limited.call('GET', `${limited.sessions}?user=anna`)
    expect(list.json.total).toBe(2)
    expect((await make({ ...fork, user: 'berta' })).status).toBe(201)
    // 12,000 are stored, and 3,000 are left.
    expect((await post(limited, id, user('x'.repeat(3001)))).json).toEqual(userFull)
    expect((await make({ user: 'anna', messages: [{ role: 'user', content: 'x'.repeat(3001) }] })).json).toEqual(
      userFull,
    )
    expect((await post(limited, id, user('x'.repeat(2000)))).status).toBe(200)
  },
)

verifies('contract-26.stored-bytes', 'what is taken back counts no more, and what was never counted is', async () => {
  const id = (await make({})).json.id
  const sent = await limited.call('POST', `${limited.agent}/deploy/responses`, {
    input: 'x'.repeat(9000),
    conversation: id,
  })
  expect(sent.status).toBe(200)
  expect((await post(limited, id, user('x'.repeat(3000)))).status).toBe(413)
  await limited.app.sql`update sessions set bytes = null where id = ${id}` // as a session of before
  expect((await post(limited, id, user('x'.repeat(3000)))).status).toBe(413)
  await limited.call('DELETE', `${limited.agent}/deploy/responses/${sent.json.id}`)
  expect((await post(limited, id, user('x'.repeat(3000)))).status).toBe(200)
})
