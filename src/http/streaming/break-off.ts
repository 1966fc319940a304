/** Answers that end before they are whole, because their caller may not read on (contract sections 11 and 23). */
import type { FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * A signal that aborts when the answer must end: the code that streams or waits for a reply looks here. Its reason
     * is the error to answer with, where no byte has gone out yet.
     */
    breakOff?: AbortSignal | null
  }
}

/** A credential that is watched until `stop`. Its signal aborts with the error to answer with. */
export interface Watched {
  signal: AbortSignal
  stop(): void
}

/** Applies from now on, whether the answer has begun or not. */
export function breakOffWith(request: FastifyRequest, reply: FastifyReply, watch: () => readonly Watched[]): void {
  const { raw } = reply
  if (raw.closed) return // its client has left while the credential was looked up
  const watched = watch()
  if (watched.length === 0) return
  request.breakOff = AbortSignal.any(watched.map(({ signal }) => signal))
  request.breakOff.addEventListener('abort', () => {
    if (raw.headersSent) raw.destroy()
  })
  raw.once('close', () => {
    for (const { stop } of watched) stop()
  })
}
