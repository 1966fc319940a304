/** Every answer names its request, and so do the log's lines about it. */
import { afterAll, expect, test } from 'vitest'
import { openSse } from '../../support/streams/sse.ts'
import { call, openScene, uuid } from '../scene.ts'

const scene = await openScene({ settings: { PUBLIC_API_KEY: 'k' } })
afterAll(scene.close)

const idOf = async (path: string, headers: Record<string, string> = {}) =>
  (await call(`${scene.app.url}${path}`, 'GET', undefined, headers)).headers.get('x-request-id')

test('answers and refusals of every scope carry it, unknown and broken paths too', async () => {
  const agent = `/api/v1/agents/${scene.agentId}`
  for (const path of [
    ...['/livez', '/', '/nothing', '/api/v1/prompts', '/api/nothing', '/openapi.json', '/docs/', '/%zz'],
    ...[`${agent}/deploy/sessions`, `${agent}/deploy/nothing`, `${agent}/deploy/%zz`],
  ]) {
    expect([path, await idOf(path)]).toEqual([path, expect.stringMatching(uuid)])
    expect([path, await idOf(path, { 'x-request-id': 'trace-me.1' })]).toEqual([path, 'trace-me.1'])
  }
})

test('what logs could not carry is replaced', async () => {
  for (const id of ['', 'two words', 'x'.repeat(129)]) {
    expect(await idOf('/livez', { 'x-request-id': id })).toMatch(uuid)
  }
  expect(await idOf('/livez', { 'x-request-id': 'x'.repeat(128) })).toHaveLength(128)
})

test('streams carry it', async () => {
  scene.says(['ok'])
  const key = { authorization: 'Bearer k', 'x-request-id': 'stream-1' }
  const body = { stream: true, messages: [{ role: 'user', content: 'x' }] }
  const stateless = await openSse(`${scene.app.url}${scene.agent}/deploy/chat/completions`, body, key)
  expect(stateless.headers.get('x-request-id')).toBe('stream-1')
  await stateless.rest()
  const chat = await openSse(`${scene.app.url}${scene.agent}/playground/chat`, { message: 'x' }, key)
  expect(chat.headers.get('x-request-id')).toBe('stream-1')
  await chat.rest()
})
