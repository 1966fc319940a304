/** Opening of the library's connections. */
import { connect, type Socket } from 'node:net'

interface Target {
  host: string[]
  port: number[]
  path: string | false | null
}

declare module 'postgres' {
  // The library has it, and its types do not.
  interface Options<T extends Record<string, PostgresType>> {
    socket?: (target: Target) => Socket
  }
}

/**
 * Creates the `socket` option of the library. If a connection is closed before the server's first byte, the library
 * reconnects at once, forever: a load balancer without servers got a thousand attempts a second from each connection. Here
 * it is an error. Several hosts are tried in turn, as in the library.
 */
export function createDial(): (target: Target) => Socket {
  let turn = 0
  return ({ host, port, path }) => {
    const at = turn++ % Math.max(host.length, 1)
    const address = { host: host[at] ?? 'localhost', port: port[at] ?? 5432 }
    const socket = path ? connect(path) : connect(address)
    socket.once('end', () => {
      if (socket.bytesRead > 0) return
      const error = new Error('The connection was closed before the database answered.')
      socket.destroy(Object.assign(error, { code: 'ECONNRESET' }))
    })
    return Object.assign(socket, address) // the library's server name in TLS, and what its errors say
  }
}
