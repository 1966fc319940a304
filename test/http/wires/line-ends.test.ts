/** Characters at which Python's clients end a line, in all events and lines of JSON (contract section 35). */
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { FastifySSEPlugin } from 'fastify-sse-v2'
import { afterAll, expect } from 'vitest'
import { sendSteps } from '../../../src/features/traces/routes/following.ts'
import { createLogWriter } from '../../../src/observability/log-writer.ts'
import { openSse, type SseStream } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openToolScene } from '../tool-scene.ts'
import { uiScene } from '../ui-scene.ts'

const scene = await openToolScene()
afterAll(scene.close)
const ui = uiScene(scene)

const words = 'a\u2028b\u2029c\u0085d'
const escaped = 'a\\u2028b\\u2029c\\u0085d'

/** What a whole stream held; the frames were parsed by the standard's rules meanwhile. */
async function rawOf(open: Promise<SseStream>): Promise<string> {
  const stream = await open
  expect([stream.status, (await stream.rest()).broken]).toEqual([200, false])
  return stream.raw()
}

verifies('contract-35.line-ends', 'streams of every surface, live and stored', async () => {
  scene.says([words, words])
  const { id } = (await scene.call('POST', scene.sessions, { user: 'anna' })).json
  const streams: Record<string, () => Promise<SseStream>> = {
    session: () => scene.stream(id, words),
    stored: () => scene.resume(id),
    stateless: () => scene.statelessStream(words),
    playground: () => scene.chat({ message: words }),
    'AI SDK': () => ui.chat(randomUUID(), words),
    'AG-UI': () => ui.run(randomUUID(), randomUUID(), words),
    Responses: () => openSse(`${scene.app.url}${scene.agent}/deploy/responses`, { stream: true, input: words }),
  }
  for (const [name, open] of Object.entries(streams)) {
    const raw = await rawOf(open())
    expect(raw, name).toContain(escaped)
    expect(raw, name).not.toMatch(/[\u2028\u2029\u0085]/)
  }
  expect((await scene.messages(id)).at(-1).content).toBe(words + words)
})

verifies('contract-35.line-ends', 'an answer to an MCP client, where it is a stream', async () => {
  scene.says([words])
  const headers = {
    ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    'mcp-protocol-version': '2025-06-18',
  }
  const params = { name: 'ask', arguments: { message: 'Say it!' } }
  const answer = await fetch(`${scene.app.url}${scene.agent}/deploy/mcp`, {
    ...{ method: 'POST', headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const raw = await answer.text()
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(raw).toContain(escaped)
  expect(raw).not.toMatch(/[\u2028\u2029\u0085]/)
})

verifies('contract-35.line-ends', 'streams of traces and transitions', async () => {
  const app = Fastify()
  await app.register(FastifySSEPlugin)
  async function* steps() {
    yield { id: '1', data: JSON.stringify({ words }) }
  }
  app.get('/', async (_, reply) => sendSteps(steps(), reply))
  expect((await app.inject('/')).payload).toContain(`data: {"words":"${escaped}"}`)
  await app.close()
})

verifies('contract-35.line-ends', 'lines of JSON: an export of a user, and the log', async () => {
  scene.says([words])
  const { id } = (await scene.call('POST', scene.sessions, { user: 'bob', title: words })).json
  await scene.send(id, words)
  const { text } = await scene.call('GET', `${scene.agent}/deploy/users/bob/export`)
  expect(text).not.toMatch(/[\u2028\u2029\u0085]/)
  expect(JSON.parse(text)).toMatchObject({ title: words, messages: [{ content: words }, { content: words }] })
  let written = ''
  const log = createLogWriter({
    write: (bytes) => {
      written += Buffer.from(bytes).toString()
      return bytes.length
    },
  })
  log.write(`${JSON.stringify({ msg: words })}\n`)
  expect(written).toBe(`{"msg":"${escaped}"}\n`)
})
