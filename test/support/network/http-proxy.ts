/** A proxy of a network: it tunnels, forwards, asks for a login, and reaches every name on this machine. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'

interface ProxyOptions {
  /** The login it wants, as `user:password`. */
  login?: string
  /** The key and certificate with which it speaks https. */
  tls?: { key: string; cert: string }
}

export interface HttpProxy extends AsyncDisposable {
  /** Host and port. */
  host: string
  /** The requests that came, as `METHOD target`. */
  readonly seen: string[]
}

export async function startHttpProxy({ login, tls }: ProxyOptions = {}): Promise<HttpProxy> {
  const seen: string[] = []
  const sockets = new Set<Duplex>()
  const isRefused = ({ method, url, headers }: IncomingMessage) => {
    seen.push(`${method} ${url}`)
    return login !== undefined && headers['proxy-authorization'] !== `Basic ${btoa(login)}`
  }
  const server: Server = tls ? createSecureServer(tls) : createServer()
  server.on('connection', (socket: Duplex) => sockets.add(socket))
  server.on('request', (incoming, outgoing) => {
    if (isRefused(incoming)) return void outgoing.writeHead(407).end()
    const { port, pathname, search } = new URL(incoming.url ?? '')
    const { 'proxy-authorization': _, ...headers } = incoming.headers
    const options = { host: '127.0.0.1', port, path: pathname + search, method: incoming.method, headers }
    const onward = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(onward)
  })
  server.on('connect', (incoming: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {})
    if (isRefused(incoming)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const port = Number(incoming.url?.split(':').at(-1))
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    sockets.add(onward)
    onward.on('error', () => socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
