/** A TCP proxy that drops connections on command, as networks do. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface DroppingProxy extends AsyncDisposable {
  url: string
  /** Connections so far. */
  readonly count: number
  /** Pieces of responses that clients were sent so far. */
  readonly pieces: number
  /** True if responses on future connections are withheld: bytes go to the server, none come back. */
  holdAnswers: boolean
  /** Future connections reach the server only when this resolves. */
  gate: Promise<unknown>
  /** Cuts all connections on both sides. */
  drop(): void
}

/** Listens on a free port, in front of `target` (an origin). */
export async function startProxy(target: string): Promise<DroppingProxy> {
  const sockets = new Set<Socket>()
  let count = 0
  let pieces = 0
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    count += 1
    keep(client)
    const silent = proxy.holdAnswers
    // A gate that rejects is a bug in the test: unhandled, it fails the run.
    void proxy.gate.then(() => {
      if (client.destroyed) return
      const upstream = connect({ port: Number(new URL(target).port), host: '127.0.0.1' })
      keep(upstream)
      client.pipe(upstream)
      if (silent) upstream.resume()
      else {
        upstream.on('data', () => {
          pieces += 1
        })
        upstream.pipe(client)
      }
      client.on('close', () => upstream.destroy())
      upstream.on('close', () => client.destroy())
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  const proxy: DroppingProxy = {
    url: `http://127.0.0.1:${port}`,
    get count() {
      return count
    },
    get pieces() {
      return pieces
    },
    holdAnswers: false,
    gate: Promise.resolve(),
    drop,
    async [Symbol.asyncDispose]() {
      drop()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
