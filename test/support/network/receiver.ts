/** Receives webhooks as somebody's server would, and answers as the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { keptAlive } from './kept-alive.ts'

export interface Received {
  path: string
  headers: Record<string, string>
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: what the server sends is what the tests look at
  json: any
  at: number
}

/** A status; or null: it never answers. */
type Answer = (received: Received) => number | null | Promise<number | null>

export interface Receiver extends AsyncDisposable {
  url: string
  received: Received[]
  /** Sets the answer from now on; 204 at first. */
  answers(answer: Answer): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let answer: Answer = () => 204
  const server = createServer(keptAlive, async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const one = { path: request.url ?? '', headers, body, json: JSON.parse(body), at: performance.now() }
    received.push(one)
    const status = await answer(one)
    if (status === null) return
    response.writeHead(status, status >= 300 && status < 400 ? { location: '/elsewhere' } : {}).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answers: (next) => {
      answer = next
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
