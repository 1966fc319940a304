/** The product with an agent that has tools: HTTP tools whose server is played by the test. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach } from 'vitest'
import { keptAlive } from '../support/network/kept-alive.ts'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { openSse, type SseFrame } from '../support/streams/sse.ts'
import { openScene, type SceneOptions } from './scene.ts'

export interface ToolRequest {
  method: string
  url: URL
  body: string
  request: IncomingMessage
  response: ServerResponse
  /** Resolves when the answer went out whole or the caller left. */
  closed: Promise<void>
}

/** A server for tools: `answer` is called with each request; what it gives is the text of the answer. */
export async function startToolServer(answer: (call: ToolRequest) => string | Promise<string>) {
  const requests: ToolRequest[] = []
  const waiting: { number: number; resolve(call: ToolRequest): void }[] = []
  const server = createServer(keptAlive, async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const url = new URL(request.url ?? '/', 'http://tool')
    const closed = new Promise<void>((resolve) => response.once('close', resolve))
    const call = { method: request.method ?? '', url, body: Buffer.concat(parts).toString(), request, response, closed }
    requests.push(call)
    for (const one of waiting) if (one.number === requests.length) one.resolve(call)
    const text = await answer(call)
    if (!response.destroyed) response.setHeader('content-type', 'text/plain').end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** The nth request (from 1), as soon as it has arrived. */
    arrived(number: number): Promise<ToolRequest> {
      const here = requests[number - 1]
      return here ? Promise.resolve(here) : new Promise((resolve) => waiting.push({ number, resolve }))
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

export type ToolScene = Awaited<ReturnType<typeof openToolScene>>

export async function openToolScene(options: SceneOptions = {}) {
  const scene = await openScene(options)
  const post = async (path: string, body: object): Promise<string> => {
    const { status, json, text } = await scene.call('POST', path, body)
    if (status !== 201) throw new Error(text)
    return json.id
  }
  const playground = `${scene.app.url}${scene.agent}/playground`
  return {
    ...scene,
    createTool: (fields: { name: string; url: string } & Record<string, unknown>) =>
      post('/api/v1/http-tools', { description: `Calls ${fields.name}.`, method: 'GET', ...fields }),
    createMcpServer: (fields: { name: string; url: string } & Record<string, unknown>) =>
      post('/api/v1/mcp-servers', { transport: 'streamable_http', ...fields }),
    choose: async (choice: object) => {
      const { status, text } = await scene.call('PUT', `${scene.agent}/tools`, {
        httpToolIds: [],
        mcpServers: [],
        builtInToolIds: [],
        ...choice,
      })
      if (status !== 200) throw new Error(text)
    },
    /** A playground message, streamed. */
    chat: (body: object) => openSse(`${playground}/chat`, body),
    resumeChat: (sessionId: string, after: number | string) =>
      openSse(`${playground}/sessions/${sessionId}/stream`, undefined, { 'last-event-id': `${after}` }),
    // biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the tests look at
    async shown(sessionId: string): Promise<any[]> {
      return (await scene.call('GET', `${scene.agent}/playground/sessions/${sessionId}/messages`)).json.messages
    },
  }
}

/** The calls of the model since each test of the file began. */
export function callsOfTest({ up }: Pick<ToolScene, 'up'>) {
  let before = 0
  beforeEach(() => {
    before = up.calls.length
  })
  return {
    count: () => up.calls.length - before,
    /** What the nth call (from 1) was sent, as soon as it arrives. */
    // biome-ignore lint/suspicious/noExplicitAny: the provider's wire format
    sent: async (nth: number): Promise<any> => (await up.call(before + nth)).body,
  }
}

/** A call of the tool `look` by the model. */
export const look = (q: string, id?: string) => ({
  name: 'look',
  arguments: JSON.stringify({ q }),
  ...(id !== undefined && { id }),
})

/** A model turn: words, then calls. */
export const asks =
  (text: string, ...calls: { name: string; arguments: string; id?: string }[]) =>
  async (call: UpstreamCall): Promise<void> => {
    if (text !== '') await call.text(text)
    for (const [index, one] of calls.entries()) await call.toolCall({ index, ...one }, 2)
    await call.finish('tool_calls')
  }

export const says =
  (text: string) =>
  async (call: UpstreamCall): Promise<void> => {
    await call.text(text)
    await call.finish()
  }

/** Named frames with their data, numbered frames as their text; role and closing frames left out. */
export const told = (frames: readonly SseFrame[]): unknown[] =>
  frames.flatMap(({ event, data }): unknown[] => {
    if (event === 'state' || data === '[DONE]') return []
    if (event !== undefined) return [[event, JSON.parse(data)]]
    return JSON.parse(data).choices?.[0]?.delta?.content ?? []
  })
