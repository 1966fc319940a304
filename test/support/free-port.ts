/** Ports for servers that are stopped and come back on the same one. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port of 127.0.0.1 that nobody listens on, from below those that the system gives to outgoing connections and to
 * port 0: a connection of another test could take one of these between a stop and the next start.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000)
    const server = createServer()
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening')
      server.close()
      await once(server, 'close')
      return port
    } catch {
      // Taken: another one.
    }
  }
}
