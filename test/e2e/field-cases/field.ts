/** The scene of the field's cases: the product as it is started, a model and a server of tools. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll } from 'vitest'
import { startUpstream, type UpstreamCall } from '../../support/network/upstream.ts'
import { addAgent, deployUrl, postJson, startProduct } from '../../support/programs/product.ts'

export type Serve = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** Starts a server that answers as the test says; `serve` may be replaced. */
export async function startServer(serve: Serve) {
  const own = { serve, url: '', paths: [] as string[] }
  const server = createServer(async (request, response) => {
    own.paths.push(`${request.url}`)
    own.serve(request, response, await text(request))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  own.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return own
}

/** Returns the answer of an MCP server to a method, by JSON-RPC. Null: an answer that was given otherwise. */
export type McpAnswer = (method: string, params: Record<string, unknown>, response: ServerResponse) => object | null

/** Plays an MCP server of 2025-06-18 without sessions. */
export const asMcp =
  (answer: McpAnswer): Serve =>
  (request, response, body) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params = {} } = Object(JSON.parse(body))
    if (id === undefined) return void response.writeHead(202).end()
    const given = answer(method, params, response)
    if (given === null) return
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...given }))
  }

export async function openField({ env = {} }: { env?: Record<string, string> } = {}) {
  const up = await startUpstream()
  const product = await startProduct({ direct: true, env })
  const agent = await addAgent(product, up.url)
  afterAll(async () => {
    await product[Symbol.asyncDispose]()
    await up.close()
  })
  const own = `${product.url}/api/v1/agents/${agent}`
  const make = async (path: string, body: object) =>
    Object(await (await postJson(`${product.url}${path}`, body)).json())
  return {
    up,
    product,
    agent,
    own,
    deploy: deployUrl(product.url, agent),
    make,
    /** Gives the agent these tools, and no others. */
    async chooses(tools: {
      httpToolIds?: string[]
      mcpServers?: object[]
      builtInToolIds?: string[]
      approvals?: object[]
    }) {
      const body = JSON.stringify({ httpToolIds: [], mcpServers: [], builtInToolIds: [], approvals: [], ...tools })
      const headers = { 'content-type': 'application/json' }
      const answered = await fetch(`${own}/tools`, { method: 'PUT', headers, body })
      if (answered.status !== 200) throw new Error(await answered.text())
    },
    /** Asks without a session. */
    async ask(content: string, more: object = {}) {
      const body = { messages: [{ role: 'user', content }], ...more }
      const answered = await postJson(`${deployUrl(product.url, agent)}/chat/completions`, body)
      return { status: answered.status, json: Object(await answered.json()) }
    },
    /** Returns what the model was told last. */
    told: (): string => up.calls.at(-1)?.body.messages.at(-1).content,
  }
}

/** Ends a turn that asks for these calls, as they are, without a finish of its own for each. */
export const callsFor =
  (...calls: { index?: number; id?: string; name: string; arguments: string }[]) =>
  async (call: UpstreamCall) => {
    for (const one of calls) await call.toolCall(one)
    await call.finish('tool_calls')
  }
