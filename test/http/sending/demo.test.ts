/** Contract section 9, over HTTP: with the demo provider every state can be seen. */
import { afterAll, beforeAll, expect } from 'vitest'
import { createAgent, sharedApp, type TestApp } from '../../support/app.ts'
import { contentOf, openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { call } from '../scene.ts'

let app: TestApp
let base = ''
beforeAll(async () => {
  app = await sharedApp()
  const { agentId } = await createAgent(app, { system: 'You are a helpful guide to the theatre and its many rooms.' })
  base = `${app.url}/api/v1/agents/${agentId}/deploy`
})
afterAll(() => app[Symbol.asyncDispose]())

const newSession = async (): Promise<string> => (await call(`${base}/sessions`, 'POST', {})).json.id
const user = (content: string) => ({ messages: [{ role: 'user', content }] })
const send = (id: string, text: string, extra: object = {}) =>
  call(`${base}/sessions/${id}/chat/completions`, 'POST', { ...user(text), ...extra })
const stream = (id: string, text: string) =>
  openSse(`${base}/sessions/${id}/chat/completions`, { ...user(text), stream: true })
const last = async (id: string) => (await call(`${base}/sessions/${id}/messages`, 'GET')).json.messages.at(-1)

verifies('contract-9.demo', 'it tells what it received, the same for the same input', async () => {
  const answers = await Promise.all([1, 2].map(() => call(`${base}/chat/completions`, 'POST', user('Hello there'))))
  const [a, b] = answers.map(({ json }) => json.choices[0].message.content)
  expect(a).toBe(b)
  expect(a).toContain('1 message')
  expect(a).toContain('You are a helpful guide')
  expect(a).toContain('Hello there')
  const id = await newSession()
  await send(id, '/echo one')
  expect((await send(id, 'two')).json.choices[0].message.content).toContain('3 messages')
})

verifies('contract-9.demo', '/echo, /slow and /long say what they are asked to', async () => {
  const id = await newSession()
  const echo = await stream(id, '/echo  Hello,\n 😀  you ')
  expect(contentOf((await echo.rest()).frames)).toBe(' Hello,\n 😀  you ')
  expect(contentOf((await (await stream(id, '/slow 2')).rest()).frames)).toBe('1 2')
  const long = contentOf((await (await stream(id, '/long 5000')).rest()).frames)
  expect(long.split(' ').length).toBe(5000)
  expect((await last(id)).content).toBe(long)
})

verifies(['contract-9.demo', 'contract-3.error-chunk'], '/fail fails at once, /fail N after N words', async () => {
  const id = await newSession()
  for (const [text, content] of [
    ['/fail', ''],
    ['/fail 3', '1 2 3'],
  ] as const) {
    const { frames } = await (await stream(id, text)).rest()
    expect(JSON.parse(frames.at(-1)?.data ?? '').error).toMatchObject({
      type: 'server_error',
      code: 'provider_error',
      param: null,
    })
    expect(await last(id)).toMatchObject({ content, status: 'error', finish_reason: 'error' })
  }
})

verifies(['contract-9.demo', 'contract-4.cancel'], '/hang says nothing until it is cancelled', async () => {
  const id = await newSession()
  const hanging = await stream(id, '/hang')
  await hanging.next()
  expect(await last(id)).toMatchObject({ content: '', status: 'streaming' })
  expect((await send(id, 'x')).status).toBe(409)
  expect((await call(`${base}/sessions/${id}/chat/completions/cancel`, 'POST')).status).toBe(204)
  expect((await hanging.rest()).frames.map(({ data }) => data).at(-1)).toBe('[DONE]')
  expect(await last(id)).toMatchObject({ content: '', status: 'complete', finish_reason: 'cancelled' })
  // Both messages go to the model as one, since nothing was said between them: the last one drives it all the same.
  expect((await send(id, '/echo on we go')).json.choices[0].message.content).toBe('on we go')
})

verifies('contract-9.demo', 'what it is told in a wrong form it answers with help, not with a failure', async () => {
  const id = await newSession()
  for (const text of [
    '/unknown',
    '/slow',
    '/slow -1',
    '/slow x',
    '/long 1000000',
    '/fail x',
    '/',
    '/tool',
    '/tool nothing {',
  ]) {
    const { status, json } = await send(id, text)
    expect([text, status, json.choices?.[0].message.content.length > 0]).toEqual([text, 200, true])
  }
})

verifies(
  'contract-9.demo',
  'the last message drives it alone, whatever the ones before it left unanswered',
  async () => {
    const described = 'The last message is: "hello".'
    const failed = await newSession()
    await send(failed, '/fail')
    expect((await send(failed, 'hello')).json.choices[0].message.content).toContain(described)

    const cancelled = await newSession()
    const hanging = await stream(cancelled, '/hang')
    await hanging.next()
    await call(`${base}/sessions/${cancelled}/chat/completions/cancel`, 'POST')
    await hanging.rest()
    expect((await send(cancelled, 'hello')).json.choices[0].message.content).toContain(described)

    const empty = await newSession()
    await send(empty, '/echo')
    expect((await send(empty, '/slow 2')).json.choices[0].message.content).toBe('1 2')
    await send(empty, 'hello there', { stop: ['I am'] })
    expect((await send(empty, '/slow 2')).json.choices[0].message.content).toBe('1 2')
  },
)

verifies('contract-9.demo', 'it drives it behind a summary, too', async () => {
  const id = await newSession()
  for (const text of ['a', 'b', 'c']) await send(id, `/echo ${text}`)
  expect((await call(`${base}/sessions/${id}/compact`, 'POST')).status).toBe(200)
  expect((await send(id, '/echo hello')).json.choices[0].message.content).toBe('hello')
})
