/** How the library's connections are opened. */
import { connect, type Socket } from 'node:net'

interface Target {
  host: string[]
  port: number[]
  path: string | false | null
}

/**
 * The `socket` option of the library, which takes an orderly end before the server's first byte for a reason to
 * connect again at once, for ever: a balancer without servers was asked a thousand times a second by each connection.
 * Here it is an error. Several hosts take turns, as they do in the library.
 */
export function createDial(): (target: Target) => Socket {
  let turn = 0
  return ({ host, port, path }) => {
    const at = turn++ % Math.max(host.length, 1)
    const name = host[at] ?? 'localhost'
    const socket = path ? connect(path) : connect({ host: name, port: port[at] ?? 5432 })
    socket.once('end', () => {
      if (socket.bytesRead > 0) return
      const error = new Error('The connection was closed before the database answered.')
      socket.destroy(Object.assign(error, { code: 'ECONNRESET' }))
    })
    return Object.assign(socket, { host: name }) // which the library takes for the server's name in TLS
  }
}
