/**
 * Requests that a client sends before the answers to its earlier ones (HTTP/1.1 calls it pipelining; browsers, SDKs and
 * proxies do not). Node hands on all that one packet holds in one turn: 1,600 of them delayed other requests for a second.
 */
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** The most on one connection. */
export const MOST_AT_ONCE = 32

/** Cuts off a connection with more requests under way than that. */
export function endPipelines(handler: RequestListener): RequestListener {
  const underWay = new WeakMap<Socket, number>()
  return (request, response) => {
    const { socket } = request
    const before = underWay.get(socket) ?? 0
    if (before === MOST_AT_ONCE) {
      socket.destroy()
      return
    }
    underWay.set(socket, before + 1)
    response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1))
    handler(request, response)
  }
}
