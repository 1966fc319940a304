/** Streams that follow what a session does. */
import type { FastifyReply } from 'fastify'
import type { EventMessage } from 'fastify-sse-v2'
import { withEscapedLineEnds } from '../../../untrusted/line-ends.ts'
import type { TraceRecorder } from '../transitions.ts'

/** Steps that other instances record are found by asking. */
const POLL_MS = 1000

/** Yields at once, then whenever something of the session may have been stored; ends when the client leaves. */
export async function* changes(
  recorder: Pick<TraceRecorder, 'subscribe'>,
  sessionId: string,
  signal: AbortSignal,
): AsyncGenerator<void> {
  let wake = () => {}
  const unsubscribe = recorder.subscribe((step) => {
    if (step.sessionId === sessionId) wake()
  })
  const stop = () => wake()
  signal.addEventListener('abort', stop)
  try {
    while (!signal.aborted) {
      yield
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
        if (signal.aborted) wake()
      })
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', stop)
  }
}

/** Begins to send them. Throws where the answer is to break off already. */
export function sendSteps(source: AsyncIterable<EventMessage>, reply: FastifyReply): void {
  reply.request.breakOff?.throwIfAborted()
  reply.sse(breakingOff(source, reply))
}

/**
 * Yields what the source yields. The plugin does not catch what a source throws, which would end the process. Here it
 * ends the connection: its reader comes back.
 */
async function* breakingOff(source: AsyncIterable<EventMessage>, reply: FastifyReply) {
  try {
    for await (const event of source) yield { ...event, data: withEscapedLineEnds(event.data ?? '') }
  } catch (error) {
    reply.log.warn({ err: error }, 'A stream of steps broke off.')
    reply.raw.destroy()
  }
}
