/** Ports for servers that are restarted on the same one. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Returns a free port of 127.0.0.1 below the ephemeral range: a connection of another test could take an ephemeral port
 * between a stop and the next start.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_081, 32_000) // fetch refuses 10080
    const server = createServer()
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening')
      server.close()
      await once(server, 'close')
      return port
    } catch {
      // The port is in use: try another one.
    }
  }
}
