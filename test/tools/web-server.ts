/** A web server on loopback that counts connections, and a scripted resolver. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Lookup } from '../../src/tools/outbound/outbound.ts'

export interface WebServer extends AsyncDisposable {
  port: number
  /** `http://127.0.0.1:port` */
  url: string
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[]
  /** Connections opened so far; connections open now. */
  connections: { opened: number; open: number }
}

/** `host` `::` accepts IPv4 too. Requests are recorded before `listener` is called. */
export async function startWebServer(listener: RequestListener, host = '127.0.0.1'): Promise<WebServer> {
  const requests: WebServer['requests'] = []
  const connections = { opened: 0, open: 0 }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
    listener(request, response)
  })
  server.on('connection', (socket) => {
    connections.opened += 1
    connections.open += 1
    socket.on('close', () => {
      connections.open -= 1
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface TestLookup {
  lookup: Lookup
  /** Names in the order of their lookups. */
  asked: string[]
}

/** Each name's answers in turn, the last one repeated. Unknown names are not found. */
export function scriptedLookup(names: Record<string, (string | string[])[]>): TestLookup {
  const asked: string[] = []
  const lookup: Lookup = async (host) => {
    const answers = names[host]
    const times = asked.filter((name) => name === host).length
    asked.push(host)
    const answer = answers?.[Math.min(times, answers.length - 1)]
    if (answer === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    return [answer].flat().map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { lookup, asked }
}
