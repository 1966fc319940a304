/** A real MCP server of the newest revision whose tools ask their user first. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server'

/** A call as the server got it. */
export interface AskedCall {
  name: string
  arguments: unknown
  capabilities: unknown
  responses: unknown
  state: unknown
  key: unknown
}

/** Writes the numbers that stand as marked texts: the SDK writes JSON with JavaScript's numbers. */
async function* withDigits(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const piece of body) yield decoder.decode(piece, { stream: true }).replaceAll(/"#(\d+)"/g, '$1')
}

export const form = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', default: 'Ann' },
    age: { type: 'integer', minimum: 1 },
  },
  required: ['age'],
} as const

/** A form and a result whose numbers JavaScript would change; see `withDigits`. */
export const DIGITS = '1917043659912705297'
const exact = {
  type: 'object',
  properties: { id: { type: 'integer', default: `#${DIGITS}`, maximum: '#9223372036854775807' } },
}

const elicit = (message: string, requestedSchema: object = form) =>
  inputRequired.elicit({ message, requestedSchema } as never)
const visit = (url: string) => inputRequired.elicitUrl({ message: 'Pay here.', url, elicitationId: 'e1' } as never)

/** The answer of each tool before its questions are answered. `round`: how often it was answered. */
const questions: Record<string, (round: number) => object | null> = {
  form: (round) =>
    round > 0 ? null : inputRequired({ inputRequests: { who: elicit('Who is it?') }, requestState: 'state ü 1' }),
  two: (round) =>
    round > 0 ? null : inputRequired({ inputRequests: { a: elicit('A?'), b: visit('https://example.com/pay') } }),
  again: (round) =>
    round > 1
      ? null
      : inputRequired({ inputRequests: { [`q${round}`]: elicit(`Round ${round}?`) }, requestState: `r${round}` }),
  page: (round) => (round > 0 ? null : inputRequired({ inputRequests: { pay: visit('https://example.com/pay') } })),
  plain: () => inputRequired({ inputRequests: { pay: visit('http://example.com/') } }),
  secret: () => inputRequired({ inputRequests: { pay: visit('https://user:secret@example.com/') } }),
  many: () =>
    inputRequired({ inputRequests: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`q${n}`, elicit('?')])) }),
  long: () => inputRequired({ inputRequests: { q: elicit('x'.repeat(10_001)) } }),
  sampling: () =>
    inputRequired({
      inputRequests: { s: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } },
    } as never),
  exact: (round) => (round > 0 ? null : inputRequired({ inputRequests: { id: elicit('Which one?', exact) } })),
  later: (round) => (round > 0 ? null : inputRequired({ requestState: 'once more' })),
}

export async function startAskingServer(port = 0) {
  const calls: AskedCall[] = []
  const bodies: string[] = []
  const open = () => {
    const server = new Server({ name: 'asks', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({
      tools: Object.keys(questions).map((name) => ({
        name,
        description: name,
        inputSchema: { type: 'object' as const },
      })),
    }))
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const state = mcpReq.requestState()
      const responses = mcpReq.inputResponses
      calls.push({
        name: params.name,
        arguments: params.arguments,
        capabilities: server.getClientCapabilities()?.elicitation,
        responses,
        state,
        key: params._meta?.['greenroom/idempotency-key'],
      })
      const rounds = responses === undefined && state === undefined ? 0 : state === 'r1' ? 2 : 1
      const asked = questions[params.name]?.(rounds) ?? null
      if (asked === null && params.name === 'exact')
        return { content: [], structuredContent: { id: `#${DIGITS}` } } as never
      return (asked ?? { content: [{ type: 'text', text: JSON.stringify(responses ?? null) }] }) as never
    })
    return server
  }
  const handler = createMcpHandler(open, { legacy: 'reject' })
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    bodies.push(Buffer.concat(chunks).toString())
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string])
    const answer = await handler.fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? 'GET',
        headers,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) return void response.end()
    Readable.from(withDigits(Readable.fromWeb(answer.body as never)))
      .on('error', () => {})
      .pipe(response)
  })
  await once(http.listen(port, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    calls,
    /** The texts of all requests, as they came. */
    bodies,
    async [Symbol.asyncDispose]() {
      http.close()
      http.closeAllConnections()
    },
  }
}
