/** A newcomer's first steps: `npm ci`, `npm start`, and a request (contract section 1). */
import { expect } from 'vitest'
import { freePort } from '../support/programs/free-port.ts'
import {
  dataFolder,
  demoAgent,
  deployUrl,
  newSession,
  type Product,
  postJson,
  serverPid,
  startProduct,
} from '../support/programs/product.ts'
import { contentOf, openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

const question = { messages: [{ role: 'user', content: '/echo first words' }] }

verifies('contract-1.two-commands', 'npm start serves pages, docs, API and a working demo agent', async () => {
  const port = await freePort()
  await using folder = await dataFolder()
  const dataDir = folder.path
  let session = ''
  let seen = ''
  {
    await using product = await startProduct({ dataDir, env: { PORT: `${port}` } })
    expect(product.url).toBe(`http://127.0.0.1:${port}`)
    await expectPagesAndDemo(product)
    session = await newSession(product.url, demoAgent)
    const stream = await openSse(`${product.url}${session}/chat/completions`, { ...question, stream: true })
    await stream.rest()
    seen = stream.raw()
    expect(contentOf(stream.frames)).toBe('first words')
    expect(await serverPid(dataDir)).not.toBeNull()
    expect(await product.stop('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(await serverPid(dataDir)).toBeNull()
  }
  // A second start finds what the first stored. A container's SIGTERM reaches npm, and leaves no process either.
  await using product = await startProduct({ dataDir })
  const replayed = await openSse(`${product.url}${session}/chat/completions/stream`)
  await replayed.rest()
  expect(replayed.raw()).toBe(seen)
  const { data } = await product.client.GET('/api/v1/agents')
  expect(data?.agents, 'the demo is made once').toHaveLength(1)
  expect(await product.stop('SIGTERM', 'npm')).toEqual({ code: 0, signal: null })
  expect(await serverPid(dataDir)).toBeNull()
})

async function expectPagesAndDemo(product: Product): Promise<void> {
  const page = await fetch(product.url)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  expect((await fetch(`${product.url}/docs`)).status).toBe(200)
  const contract: unknown = await (await fetch(`${product.url}/openapi.json`)).json()
  expect(contract).toMatchObject({ openapi: expect.stringMatching(/^3\./) })
  expect((await fetch(`${product.url}/livez`)).status).toBe(200)
  const ready = await fetch(`${product.url}/readyz`)
  expect(await ready.json()).toEqual({ status: 'ready', checks: { database: 'ok', cache: 'disabled' } })

  const { data } = await product.client.GET('/api/v1/agents')
  expect(data?.agents).toMatchObject([{ id: demoAgent }])
  const answer = await postJson(`${deployUrl(product.url, demoAgent)}/chat/completions`, question)
  expect(await answer.json()).toMatchObject({
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'first words' }, finish_reason: 'stop' }],
  })
}
