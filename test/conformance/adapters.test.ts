/** The requests of the adapters (contract section 34). */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { greenroom } from '../../packages/conformance/src/adapters/greenroom.ts'
import { ask } from '../../packages/conformance/src/wire/http.ts'
import { verifies } from '../verifies.ts'

interface Answer {
  status?: number
  headers?: Record<string, string | string[]>
}

/** Starts a server that answers each request with the id `made`, in JSON. */
async function startServer(answer: (request: IncomingMessage, body: string) => Answer): Promise<string> {
  const server = createServer(async (request, response) => {
    const { status = 200, headers } = answer(request, await text(request))
    response.writeHead(status, headers).end('{"id": "made"}')
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

verifies('contract-34.adapters', 'greenroom’s logs in and sets up an agent, unless one is named', async () => {
  const asked: unknown[] = []
  const url = await startServer(({ url: path, headers }, body) => {
    asked.push([path, headers.cookie ?? null, JSON.parse(body)])
    return path === '/api/auth/login' ? { headers: { 'set-cookie': ['a=1; HttpOnly', 'b=2'] } } : {}
  })
  const setting = { url, modelUrl: 'http://model/v1', agent: null, key: null, login: 'ann:correct:horse' }
  expect(await greenroom.configure?.(setting)).toBe('made')
  const name = expect.any(String)
  expect(asked).toEqual([
    ['/api/auth/login', null, { username: 'ann', password: 'correct:horse' }],
    ['/api/v1/settings/providers', 'a=1; b=2', { name, providerType: 'openai-compatible', baseUrl: 'http://model/v1' }],
    ['/api/v1/agents', 'a=1; b=2', { name, providerId: 'made', model: 'suite' }],
  ])
  expect(await greenroom.configure?.({ ...setting, agent: 'mine' })).toBe('mine')
  expect(asked).toHaveLength(3)
})

verifies('contract-34.adapters', 'a key is sent; what is 503 is asked again when the server says so', async () => {
  const asked: unknown[] = []
  const url = await startServer(({ headers }) => {
    const n = asked.push(headers.authorization)
    return { status: n === 2 ? 200 : 503, headers: n === 1 ? { 'retry-after': '0' } : {} }
  })
  const target = { url, url2: null, agent: null, key: 'k', signal: new AbortController().signal }
  expect((await ask(url, target)).status).toBe(200)
  await expect(ask(url, target)).rejects.toMatchObject({ status: 503 })
  expect(asked).toEqual(Array(3).fill('Bearer k'))
})
