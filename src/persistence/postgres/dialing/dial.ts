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

/** No text of a row holds a zero byte. */
const FATAL = 'SFATAL\0'
/** 57P01: an administrator's end, or a restart; 57P05: it was idle for too long. */
const ENDS = ['C57P01\0', 'C57P05\0']
/** The last message is at most so long, in bytes. */
const LONGEST_END = 1024

/**
 * Calls `onEnd` when a server, or a pooler before it, says that it ends the connection: it has carried out nothing that it
 * has not answered. The library does not tell (3.4.9): it waits for what follows an error.
 */
export function watchEnd(socket: Socket, onEnd: () => void): Socket {
  return socket.on('data', (bytes: Buffer) => {
    const tail = bytes.subarray(-LONGEST_END)
    if (tail.includes(FATAL) && ENDS.some((code) => tail.includes(code))) onEnd()
  })
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
