/** Reads of sessions by people, as entries (contract section 33). Written before the answer. */
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { noteSessionReads, type ReadSessions } from '../store/session-reads.ts'
import { originOf } from './record-change.ts'

const HOUR_MS = 60 * 60 * 1000
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Notes that a person reads sessions. `identity`: the person's, whatever the name is. */
export type NoteReads = (request: FastifyRequest, identity: string, read: ReadSessions) => Promise<void>

export function createSessionReads(sql: Sql): NoteReads {
  // What is known to be noted is not asked for again: pages read a session many times.
  const noted = new LRUCache<string, number>({ max: 10_000 })
  return async (request, identity, { sessionIds = [], messageIds = [], agentId }) => {
    if (agentId !== undefined && !UUID.test(agentId)) return
    const hour = Math.floor(Date.now() / HOUR_MS)
    const keyOf = (id: string) => `${identity} ${agentId ?? ''} ${id}`
    const isNew = (id: string) => UUID.test(id) && noted.get(keyOf(id)) !== hour
    const read = { sessionIds: sessionIds.filter(isNew), messageIds: messageIds.filter(isNew), agentId }
    const ids = [...read.sessionIds, ...read.messageIds]
    if (ids.length === 0) return
    await noteSessionReads(sql, { reader: identity, origin: originOf(request) }, read)
    for (const id of ids) noted.set(keyOf(id), hour)
  }
}
