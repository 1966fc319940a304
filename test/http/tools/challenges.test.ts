/** Contract section 35: words that stand in a tool's `WWW-Authenticate` alone, wherever its failure is told. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, onTestFinished } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asks, look, openToolScene, says } from '../tool-scene.ts'

const scene = await openToolScene()
afterAll(scene.close)

const words = 'invalid_token: The access token expired at noon'

verifies('contract-35.challenge', 'the test, the model, the transcript and the trace have them', async () => {
  const challenge = 'Bearer error="invalid_token", error_description="The access token expired at noon"'
  const server = createServer((_, response) => response.writeHead(401, { 'www-authenticate': challenge }).end())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const id = await scene.createTool({ name: 'look', url })
  expect((await scene.call('POST', `/api/v1/http-tools/${id}/test`, {})).json).toMatchObject({
    ok: false,
    status: 401,
    body: '',
    message: `The tool failed with status 401: ${words}`,
  })
  await scene.choose({ httpToolIds: [id] })
  scene.up.next(asks('', look('1', 'c1')))
  scene.up.next(says('Sorry.'))
  const session = await scene.newSession()
  await scene.send(session, 'Look!')
  expect(scene.up.calls.at(-1)?.body.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: expect.stringContaining(words),
  })
  expect((await scene.shown(session))[1].toolCalls[0].content).toContain(words)
  const [, reply] = await scene.messages(session)
  const path = `/api/v1/debug/replies/${reply.id}/trace`
  const spans = async () => (await scene.call('GET', path)).json.spans as { kind: string; detail: object }[]
  await expect.poll(async () => (await spans()).map(({ kind }) => kind)).toContain('settle')
  expect((await spans()).find(({ kind }) => kind === 'tool')?.detail).toMatchObject({
    error: expect.stringContaining(words),
  })
})
