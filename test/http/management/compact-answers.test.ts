/** Management JSON and the contract are compressed and tagged; streams and the deploy API are left alone. */

import { request } from 'node:http'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene({ settings: {} })
afterAll(scene.close)

/** Node's own client: fetch would decompress. */
function read(path: string, headers: Record<string, string>) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number | undefined
    headers: Record<string, string | string[] | undefined>
    body: Buffer
  }>()
  request(`${scene.app.url}${path}`, { headers }, async (answer) => {
    const parts: Buffer[] = []
    for await (const part of answer) parts.push(part)
    resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) })
  })
    .on('error', reject)
    .end()
  return promise
}

const accepting = { 'accept-encoding': 'gzip, deflate, br' }

verifies('contract-16.compact', 'the contract and lists come compressed, and once only', async () => {
  for (const name of Array.from({ length: 20 }, (_, place) => `Prompt ${place}`)) {
    await scene.call('POST', '/api/v1/prompts', { name, content: 'Be kind. '.repeat(20) })
  }
  for (const path of ['/openapi.json', '/api/v1/prompts']) {
    const plain = await read(path, {})
    expect(plain.headers['content-encoding']).toBeUndefined()
    const small = await read(path, accepting)
    expect(small.headers).toMatchObject({ 'content-encoding': 'br', vary: expect.stringContaining('accept-encoding') })
    expect(small.body.length).toBeLessThan(plain.body.length / 4)
    expect(brotliDecompressSync(small.body).equals(plain.body)).toBe(true)
    const tag = String(small.headers.etag)
    expect(tag).toMatch(/^W\/"/)
    expect(tag).toBe(plain.headers.etag)
    const again = await read(path, { ...accepting, 'if-none-match': tag })
    expect([again.status, again.body.length]).toEqual([304, 0])
  }
  await scene.call('POST', '/api/v1/prompts', { name: 'One more', content: 'x' })
  const tag = String((await read('/api/v1/prompts?limit=3', {})).headers.etag)
  await scene.call('PUT', `/api/v1/prompts/${(await scene.call('GET', '/api/v1/prompts')).json.prompts[0].id}`, {
    name: 'Renamed',
  })
  expect((await read('/api/v1/prompts?limit=3', { 'if-none-match': tag })).status).toBe(200)
})

verifies('contract-16.compact', 'streams are neither compressed nor tagged', async () => {
  scene.says(['Hello', ' you'])
  const answer = await fetch(`${scene.app.url}${scene.agent}/playground/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...accepting },
    body: JSON.stringify({ message: 'Hi' }),
  })
  await answer.text()
  const session = answer.headers.get('x-session-id')
  const stream = `${scene.agent}/playground/sessions/${session}/stream`
  for (const { headers } of [answer, await fetch(`${scene.app.url}${stream}`, { headers: accepting })]) {
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect([headers.get('content-encoding'), headers.get('etag')]).toEqual([null, null])
  }
  const transitions = await fetch(`${scene.app.url}/api/v1/debug/sessions/${session}/transitions/stream`, {
    headers: accepting,
  })
  expect([transitions.headers.get('content-encoding'), transitions.headers.get('etag')]).toEqual([null, null])
  await transitions.body?.cancel()
  const deploy = await read(`${scene.sessions}?limit=100`, accepting)
  expect([deploy.headers['content-encoding'], deploy.headers.etag]).toEqual([undefined, undefined])
})
