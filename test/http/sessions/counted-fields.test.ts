/** Contract section 35: what a caller makes the server keep counts among MAX_SESSION_BYTES. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene({ settings: { MAX_SESSION_BYTES: '10000', MAX_USER_BYTES: '20000' } })
afterAll(scene.close)
scene.up.always(async (one) => {
  await one.text('12345')
  await one.finish()
})

const rule = 'contract-35.counted'
const { sql } = scene.app
const deploy = `${scene.agent}/deploy`

async function bytesOf(session: string): Promise<number> {
  const [row] = await sql<{ bytes: number; counted: number }[]>`
    select bytes::float8 as bytes, session_bytes(id)::float8 as counted from sessions where id = ${session}`
  expect(row?.counted).toBe(row?.bytes)
  return row?.bytes ?? 0
}
const newSession = async (wanted: object = {}): Promise<string> =>
  (await scene.call('POST', `${deploy}/sessions`, wanted)).json.id
const messages = [{ role: 'user', content: 'a' }]
const toolOf = (description: string) => ({
  type: 'function',
  function: { name: 'look', description, parameters: { type: 'object' } },
})
const schemaOf = (description: string) => ({
  type: 'json_schema',
  json_schema: { name: 'a', schema: { type: 'object', description } },
})
const text = 'x'.repeat(3000)

/** How a request of each surface brings tools, and more. */
const surfaces: Record<string, (session: string, brought: string) => Promise<{ status: number }>> = {
  tools: (session, brought) =>
    scene.call('POST', `${deploy}/sessions/${session}/chat/completions`, { messages, tools: [toolOf(brought)] }),
  response_format: (session, brought) =>
    scene.call('POST', `${deploy}/sessions/${session}/chat/completions`, {
      messages,
      response_format: schemaOf(brought),
    }),
  'system messages': (session, brought) =>
    scene.call('POST', `${deploy}/sessions/${session}/chat/completions`, {
      messages: [{ role: 'system', content: brought }, ...messages],
    }),
  'AI SDK': (session, brought) =>
    scene.call('POST', `${deploy}/ai-sdk`, {
      id: session,
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'a' }] }],
      tools: { look: { description: brought, parameters: { type: 'object' } } },
    }),
  'AG-UI': (session, brought) =>
    scene.call('POST', `${deploy}/ag-ui`, {
      threadId: session,
      runId: crypto.randomUUID(),
      messages: [{ id: crypto.randomUUID(), role: 'user', content: 'a' }],
      tools: [{ name: 'look', description: brought, parameters: { type: 'object' } }],
      state: {},
      context: [],
      forwardedProps: {},
    }),
  overrides: (session, brought) =>
    scene.call('POST', `${scene.agent}/playground/chat`, {
      sessionId: session,
      message: 'a',
      configOverrides: { systemPrompt: brought },
    }),
}

for (const [name, send] of Object.entries(surfaces)) {
  verifies(rule, `${name}: each content counts once, and one beyond the limit is 413`, async () => {
    await scene.call('PUT', scene.agent, { callerInstructions: 'append' })
    const session = await newSession()
    expect((await send(session, text)).status).toBe(200)
    const first = await bytesOf(session)
    expect(first).toBeGreaterThan(3000)
    expect((await send(session, text)).status).toBe(200)
    expect(await bytesOf(session)).toBe(first + 6)
    expect((await send(session, `${text}y`)).status).toBe(200)
    expect(await bytesOf(session)).toBeGreaterThan(first + 3000)
    const before = await bytesOf(session)
    expect((await send(session, 'z'.repeat(4000))).status).toBe(413)
    expect(await bytesOf(session)).toBe(before)
    // The texts are stored where they are read, not once more.
    const [stored] = await sql<{ content: unknown }[]>`select content from session_texts where session_id = ${session}`
    expect(stored?.content).toBe('')
  })
}

verifies(rule, 'what a queued message brings counts until it is taken out of the queue', async () => {
  const session = await newSession()
  const path = `${deploy}/sessions/${session}`
  const upstream = scene.byHand()
  const running = scene.call('POST', `${path}/chat/completions`, { messages })
  const provider = await upstream
  const before = await bytesOf(session)
  const brought = { tools: [toolOf(text)], response_format: schemaOf(text) }
  const queued = [1, 2].map(() =>
    scene.call('POST', `${path}/chat/completions`, { messages, ...brought, on_busy: 'enqueue' }),
  )
  const queue = async () => (await scene.call('GET', `${path}/queue`)).json.queue
  await expect.poll(queue).toHaveLength(2)
  const [first, second] = await queue()
  expect(await bytesOf(session)).toBeGreaterThan(before + 6000)
  expect((await scene.call('DELETE', `${path}/queue/${first.id}`)).status).toBe(204)
  expect(await bytesOf(session)).toBeGreaterThan(before + 6000)
  expect((await scene.call('DELETE', `${path}/queue/${second.id}`)).status).toBe(204)
  expect(await bytesOf(session)).toBe(before)
  await provider.finish()
  expect((await Promise.all([running, ...queued])).map(({ status }) => status)).toEqual([200, 409, 409])
})

const patch = (session: string, metadata: object | null) =>
  scene.call('PATCH', `${deploy}/sessions/${session}`, { metadata })
const long = { a: 'x'.repeat(500) }

verifies(rule, 'metadata that makes a session larger than MAX_SESSION_BYTES is 413, and changes nothing', async () => {
  const given = (size: number) => ({ messages: [{ role: 'user', content: 'x'.repeat(size) }], metadata: { a: '1' } })
  const session = await newSession(given(9900))
  const before = await bytesOf(session)
  const refused = await patch(session, long)
  expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([413, 'false'])
  expect(refused.json.error).toContain('MAX_SESSION_BYTES')
  expect(await bytesOf(session)).toBe(before)
  expect((await scene.call('POST', `${deploy}/conversations/${session}`, { metadata: long })).status).toBe(413)
  // The limit does not refuse metadata that make the session no larger.
  expect((await patch(session, { a: '2' })).status).toBe(200)
  expect((await patch(session, null)).status).toBe(200)
  expect((await scene.call('PATCH', `${deploy}/sessions/${crypto.randomUUID()}`, { metadata: long })).status).toBe(404)
})

verifies(rule, 'metadata counts among MAX_USER_BYTES', async () => {
  const given = { user: 'ann', messages: [{ role: 'user', content: 'x'.repeat(9800) }] }
  const sessions = [await newSession(given), await newSession(given)]
  expect((await patch(sessions[0] ?? '', { a: 'x'.repeat(150) })).status).toBe(200)
  const refused = await patch(sessions[1] ?? '', { a: 'x'.repeat(190), b: 'x'.repeat(10) })
  expect([refused.status, refused.json.error]).toEqual([413, expect.stringContaining('MAX_SESSION_BYTES')])
  const third = await newSession({ user: 'ann' })
  const ofUser = await patch(third, long)
  expect([ofUser.status, ofUser.json.error]).toEqual([413, expect.stringContaining('MAX_USER_BYTES')])
})
