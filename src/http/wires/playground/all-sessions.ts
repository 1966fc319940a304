/** The sessions of all agents (contract section 16). */

import type { FastifyRequest } from 'fastify'
import type { NoteReads } from '../../../features/audit/index.ts'
import { type FeedDependencies, type Show, sendChanges, tellPosition } from '../../../features/live-lists/index.ts'
import type { RunSearch } from '../../../features/search/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { readMoment } from '../../server/fields/moment.ts'
import type { Handlers } from '../../server/mount.ts'
import { MOST_PER_PAGE } from '../../server/paging/list.ts'
import { searchMessages } from './message-search.ts'
import { countSessions, listAllSessions, type OverviewFilters, type SessionOverview } from './store/all-sessions.ts'
import { newestReplies, type ReplyFilter } from './store/reply-filter.ts'

type Filters = Omit<OverviewFilters, 'status' | 'from' | 'to' | 'replies'> &
  ReplyFilter & { from?: string | undefined; to?: string | undefined }

/** Reads the filters of a list. Throws 400. */
function filtersIn({
  q,
  agentId,
  user,
  errorCode,
  archived,
  children,
  parent,
  feedback,
  from,
  to,
  ...replies
}: Filters): OverviewFilters {
  const { providerId, httpStatus, text } = replies
  const readsReplies = [providerId, httpStatus, text].some((value) => value !== undefined)
  return {
    q,
    agentId,
    user,
    errorCode,
    archived,
    children,
    parent,
    feedback,
    from: from === undefined ? undefined : readMoment('from', from),
    to: to === undefined ? undefined : readMoment('to', to),
    ...(readsReplies && { replies: { providerId, httpStatus, text } }),
  }
}

async function withReplies(sql: Sql, sessions: readonly SessionOverview[]) {
  const found = await newestReplies(
    sql,
    sessions.map(({ id }) => id),
  )
  const byId = new Map(found.map(({ sessionId, ...reply }) => [sessionId, reply]))
  return sessions.map((session) => ({ ...session, reply: byId.get(session.id) ?? null }))
}

const shownSession: Show = ({
  id,
  agentId,
  agentName,
  title,
  user,
  status,
  errorCode,
  archived,
  queued,
  createdAt,
  updatedAt,
  parent,
}) => ({ id, agentId, agentName, title, user, status, errorCode, archived, queued, createdAt, updatedAt, parent })

/** Returns a name of who asks, among all who manage. */
const actorName = ({ actor }: FastifyRequest): string => `${actor?.actorKind} ${actor?.actor}`

interface OverviewDependencies extends FeedDependencies {
  sql: Sql
  runSearch: RunSearch
  noteReads: NoteReads
}

export const allSessionHandlers = ({ sql, sessionFeed, followers, runSearch, noteReads }: OverviewDependencies) =>
  ({
    listAllSessions: async ({ query, request, reply }) => {
      await tellPosition(sessionFeed, reply)
      const limit = Math.min(query.limit, MOST_PER_PAGE)
      const page = { limit, offset: query.offset }
      const asked = { ...filtersIn(query), status: query.status, ...page }
      const isSearch = query.in === 'messages'
      const { items, total, more, ...rest } = isSearch
        ? await searchMessages({ sql, runSearch }, actorName(request), asked)
        : await listAllSessions(sql, asked)
      if (isSearch && request.person)
        await noteReads(request, request.person.identity, { sessionIds: items.map(({ id }) => id) })
      const sessions = query.include === 'reply' ? await withReplies(sql, items) : items
      return { sessions, total, ...(more && { more }), ...rest, ...page }
    },
    countAllSessions: async ({ query }) => {
      const counted = await countSessions(sql, filtersIn(query))
      const none = { idle: 0, streaming: 0, waiting: 0, complete: 0, error: 0, cancelled: 0 }
      return { ...none, ...Object.fromEntries(counted.map(({ status, count }) => [status, count])) }
    },
    streamAllSessions: async ({ query, request, reply }) => {
      await sendChanges(
        { sessionFeed, followers },
        { request, reply },
        {
          agentId: null,
          users: [],
          children: query.children === 'true',
          lastEventId: query.last_event_id,
          endsAt: null,
          show: shownSession,
          follower: { kind: 'key', id: actorName(request) },
        },
      )
      return undefined
    },
  }) satisfies Handlers<'allSessions'>
