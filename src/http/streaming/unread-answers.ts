/** Closes connections whose reader takes nothing of its answer (contract section 26): its bytes are held here meanwhile. */
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export interface ReadingLimits {
  /** The time for which a reader may take nothing. */
  stalledMs: number
  checkMs: number
}

const READING_LIMITS: ReadingLimits = { stalledMs: 60_000, checkMs: 1000 }

interface Waiting {
  /** The bytes that the system had not taken at the last check, in bytes. */
  bytes: number
  since: number
}

/**
 * Closes connections whose answers nobody takes. One timer serves all connections; it looks only at those that hold
 * something back.
 */
export function closeUnreadAnswers(app: FastifyInstance, limits: ReadingLimits = READING_LIMITS): void {
  const open = new Set<Socket>()
  const waiting = new WeakMap<Socket, Waiting>()
  app.server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  const check = () => {
    const now = performance.now()
    for (const socket of open) {
      const bytes = unsentBytes(socket)
      const before = waiting.get(socket)
      if (bytes === 0) waiting.delete(socket)
      else if (before === undefined || bytes < before.bytes) waiting.set(socket, { bytes, since: now })
      else if (now - before.since >= limits.stalledMs) socket.destroy()
      else before.bytes = bytes // more was written
    }
  }
  const timer = setInterval(check, limits.checkMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * Returns the bytes that are not sent yet. Node counts a write until all of it is taken, and 4 MB may be one: how much
 * of that is left only the handle knows.
 */
function unsentBytes(socket: Socket): number {
  const { writableLength } = socket
  if (writableLength === 0) return 0
  const underWay = numberIn(Reflect.get(socket, '_writableState'), 'writelen')
  return numberIn(Reflect.get(socket, '_handle'), 'writeQueueSize') + Math.max(0, writableLength - underWay)
}

/** Returns 0 when there is none: then all that is written counts as one. */
const numberIn = (holder: unknown, name: string): number =>
  holder instanceof Object ? Number(Reflect.get(holder, name)) || 0 : 0
