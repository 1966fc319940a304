/** The header that names the MCP servers which a reply went without (contract section 27). */
import type { FastifyReply } from 'fastify'
import type { Frame, MissingServer, ReplyEvent } from '../../actors/reply/reply-event.ts'

const MAX_BYTES = 1024

/** Returns the servers that an event names. Null when it names none. */
export const missingOf = (event: ReplyEvent): readonly MissingServer[] | null =>
  event.type === 'model' ? (event.missing ?? null) : null

/** Returns the servers that the newest of these frames names. Null when none does. */
export function missingAmong(frames: readonly Frame[]): readonly MissingServer[] | null {
  const told = frames.findLast((frame) => frame.type === 'stored' && missingOf(frame.stored.event) !== null)
  return told?.type === 'stored' ? missingOf(told.stored.event) : null
}

/** Names the servers in an answer that is not streamed. */
export function nameMissing(reply: FastifyReply, missing: readonly MissingServer[] | null): void {
  if (missing === null || missing.length === 0) return
  const named = missing.map(({ server, reason }) => `${encodeURIComponent(server.toWellFormed())}=${reason}`)
  reply.header('x-greenroom-missing-tools', named.join(',').slice(0, MAX_BYTES))
}
