/** The sessions of all agents (contract section 16). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { listAllSessions } from '../../../persistence/replies/sessions/all-sessions.ts'
import { MOST_PER_PAGE } from '../../list.ts'
import type { Handlers } from '../../server/mount.ts'
import { type FeedDependencies, sendChanges, tellPosition } from '../../session-stream/send-changes.ts'

export const allSessionHandlers = ({ sql, sessionFeed }: { sql: Sql } & FeedDependencies) =>
  ({
    listAllSessions: async ({ query, reply }) => {
      await tellPosition(sessionFeed, reply)
      const limit = Math.min(query.limit, MOST_PER_PAGE)
      const { items, total, more } = await listAllSessions(sql, { ...query, limit })
      return { sessions: items, total, ...(more && { more }), limit, offset: query.offset }
    },
    streamAllSessions: async ({ query, request, reply }) => {
      await sendChanges(
        { sessionFeed },
        { request, reply },
        {
          agentId: null,
          users: [],
          lastEventId: query.last_event_id,
          endsAt: null,
          show: ({ id, agentId, agentName, title, user, status, errorCode, queued, createdAt, updatedAt }) => {
            return { id, agentId, agentName, title, user, status, errorCode, queued, createdAt, updatedAt }
          },
        },
      )
      return undefined
    },
  }) satisfies Handlers<'allSessions'>
