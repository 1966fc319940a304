/** Contract section 32: what a request brings besides its message is stored and counted once a session. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene, sessionOf } from './responses-scene.ts'

const scene = await openResponsesScene({ settings: { MAX_SESSION_BYTES: '10000' } })
const { create } = scene
afterAll(scene.close)
scene.up.always(async (one) => {
  await one.text('12345')
  await one.finish()
})

const rule = 'contract-32.kept-once'
const toolOf = (description: string) => ({
  type: 'function',
  name: 'look',
  description,
  parameters: { type: 'object' },
})
const { sql } = scene.app
const bytesOf = async (session: string) => {
  const [row] = await sql<{ bytes: number; counted: number }[]>`
    select bytes::float8 as bytes, session_bytes(id)::float8 as counted from sessions where id = ${session}`
  expect(row?.counted).toBe(row?.bytes)
  return row?.bytes ?? 0
}
const besides = {
  tools: [toolOf('x'.repeat(2000))],
  text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object', description: 'y'.repeat(1000) } } },
  instructions: 'z'.repeat(500),
  metadata: { topic: 'n'.repeat(300) },
}

verifies(rule, 'tools, format, instructions and metadata count once, however often they are sent', async () => {
  const first = (await create({ input: 'a', ...besides })).json
  const session = sessionOf(first.conversation.id)
  const once = await bytesOf(session)
  expect(once).toBeGreaterThan(3800)
  for (let n = 0; n < 3; n++) await create({ input: 'a', conversation: first.conversation.id, ...besides })
  expect(await bytesOf(session)).toBe(once + 3 * 6)
  expect(await sql`select 1 from session_texts where session_id = ${session}`).toHaveLength(4)
  const [{ size } = { size: 0 }] = await sql<{ size: number }[]>`
    select max(octet_length(facts::text)) as size from messages where session_id = ${session}`
  expect(size).toBeLessThan(1000)
  // Read later, each request is whole.
  const { tools, text, instructions, metadata } = (await scene.call('GET', `${scene.responses}/${first.id}`)).json
  expect({ tools, text, instructions, metadata }).toMatchObject(besides)
})

verifies(rule, 'what they bring beyond the limit is 413, and nothing is stored', async () => {
  const { conversation } = (await create({ input: 'a', ...besides })).json
  const session = sessionOf(conversation.id)
  const before = await bytesOf(session)
  const more = { input: 'a', conversation: conversation.id, tools: [toolOf('w'.repeat(7000))] }
  expect((await create(more)).status).toBe(413)
  expect([await bytesOf(session), (await scene.messages(session)).length]).toEqual([before, 2])
  expect((await create({ input: 'a', tools: [toolOf('w'.repeat(11_000))] })).status).toBe(413)
  expect((await create({ ...more, tools: [toolOf('w'.repeat(3000))] })).status).toBe(200)
})

verifies(rule, 'they count no more once the messages that brought them are gone', async () => {
  const first = (await create({ input: 'a' })).json
  const session = sessionOf(first.conversation.id)
  const before = await bytesOf(session)
  const second = (await create({ input: 'a', conversation: first.conversation.id, ...besides })).json
  const third = (await create({ input: 'a', conversation: first.conversation.id, ...besides })).json
  const shared = await bytesOf(session)
  await scene.call('DELETE', `${scene.responses}/${third.id}`)
  expect(await bytesOf(session)).toBe(shared - 6)
  await scene.call('DELETE', `${scene.responses}/${second.id}`)
  expect(await bytesOf(session)).toBe(before)
})

verifies(rule, 'a message that waits in the queue brings them too', async () => {
  const { conversation } = (await create({ input: 'a' })).json
  const session = sessionOf(conversation.id)
  const before = await bytesOf(session)
  const upstream = scene.byHand()
  const running = scene.call('POST', `${scene.sessions}/${session}/chat/completions`, {
    messages: [{ role: 'user', content: 'b' }],
  })
  const provider = await upstream
  scene.says(['12345'])
  const queued = (
    await create({ input: 'c', conversation: conversation.id, background: true, on_busy: 'enqueue', ...besides })
  ).json
  const { metadata } = (await scene.call('GET', `${scene.responses}/${queued.id}`)).json
  expect(metadata).toEqual(besides.metadata)
  expect(await bytesOf(session)).toBeGreaterThan(before + 3800)
  await provider.finish()
  await running
  await expect
    .poll(async () => (await scene.call('GET', `${scene.responses}/${queued.id}`)).json.status)
    .toBe('completed')
  await bytesOf(session)
})

verifies(rule, 'a session’s own metadata counts, as it is set and as it is replaced', async () => {
  const made = await scene.call('POST', scene.sessions, { metadata: { a: 'x'.repeat(400) } })
  const { id } = made.json
  const first = await bytesOf(id)
  expect(first).toBeGreaterThan(400)
  await scene.call('PATCH', `${scene.sessions}/${id}`, { metadata: { a: 'x'.repeat(100) } })
  expect(await bytesOf(id)).toBe(first - 300)
  await scene.call('PATCH', `${scene.sessions}/${id}`, { title: 'T' })
  expect(await bytesOf(id)).toBe(first - 300)
  await scene.call('PATCH', `${scene.sessions}/${id}`, { metadata: null })
  expect(await bytesOf(id)).toBe(0)
})
