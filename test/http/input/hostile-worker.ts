/** Sends one hostile request at a time, and plays the provider: neither is to be seen on the server's thread. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'
import { WAIT_MS } from '../../support/wait.ts'
import { hostileBodies, hostileConversations, hostileImports, hostileValues, hostileYaml } from './hostile-input.ts'

export interface HostileRequest {
  url: string
  method: string
  headers?: Record<string, string>
  /** `value`: in `field` of the JSON `around`. */
  kind: 'none' | 'value' | 'body' | 'conversation' | 'yaml' | 'import'
  name: string
  field?: string
  around?: Record<string, unknown>
  /** A stored reply, for a conversation. */
  reply?: string
  bytes: number
}

export interface HostileAnswer {
  /** 0: the connection broke. */
  status: number
  ms: number
}

const provider = createServer((request, response) => {
  request.resume()
  const chunk = (delta: object, reason: string | null) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${chunk({ role: 'assistant', content: 'ok' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
})

function bodyOf({
  kind,
  name,
  field = '',
  around = {},
  reply = '',
  bytes,
}: HostileRequest): string | Buffer | undefined {
  if (kind === 'none') return undefined
  if (kind === 'body') return hostileBodies[name]?.(bytes)
  if (kind === 'conversation') return hostileConversations[name]?.body(reply)
  if (kind === 'yaml') return hostileYaml[name]?.(bytes)
  if (kind === 'import') return hostileImports[name]?.(bytes)
  const { [field]: _, ...rest } = around
  const others = JSON.stringify(rest).slice(1, -1)
  return `{${others}${others && ','}"${field}":${hostileValue(name, bytes - others.length - field.length - 10)}}`
}

const values = new Map<string, (bytes: number) => string>(Object.values(hostileValues).flatMap(Object.entries))
let last = { name: '', bytes: 0, text: '' }

/** One value goes to many endpoints, one after the other. */
function hostileValue(name: string, bytes: number): string {
  const rounded = Math.floor(bytes / 1024) * 1024
  if (last.name !== name || last.bytes !== rounded)
    last = { name, bytes: rounded, text: values.get(name)?.(rounded) ?? '' }
  return last.text
}

async function send(request: HostileRequest): Promise<HostileAnswer> {
  const body = bodyOf(request)
  const type = request.kind === 'yaml' ? 'application/yaml' : 'application/json'
  const begin = performance.now()
  try {
    const response = await fetch(request.url, {
      method: request.method,
      redirect: 'manual',
      headers: { ...(body === undefined ? {} : { 'content-type': type }), ...request.headers },
      body: body ?? null,
      signal: AbortSignal.timeout(WAIT_MS),
    })
    await response.body?.cancel()
    return { status: response.status, ms: performance.now() - begin }
  } catch {
    return { status: 0, ms: performance.now() - begin }
  }
}

parentPort?.on('message', async (request: HostileRequest) => parentPort?.postMessage(await send(request)))
provider.listen(0, '127.0.0.1', () => parentPort?.postMessage({ port: (provider.address() as AddressInfo).port }))
