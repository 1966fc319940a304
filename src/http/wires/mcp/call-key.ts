/** The keys of calls of the protocol's older revisions, whose clients may come back (contract section 30). */
import { createHash, randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

const MOST_CHARACTERS = 255
const ours = /^mcp-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns a new `Mcp-Session-Id`. Nothing of it is stored. */
export const newMcpSession = (): string => `mcp-${randomUUID()}`

/** Returns the request's `Mcp-Session-Id`. Null when it sends none of ours. */
export function mcpSessionOf({ headers }: FastifyRequest): string | null {
  const given = headers['mcp-session-id']
  return typeof given === 'string' && ours.test(given) ? given : null
}

/** Returns the key of a call. A request's id may be longer than a key. */
export function callKey(session: string, requestId: string | number): string {
  const key = `${session}:${requestId}`
  if (key.length <= MOST_CHARACTERS) return key
  return `${session}:${createHash('sha256').update(String(requestId)).digest('hex')}`
}
