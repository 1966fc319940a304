/** The sessions of all agents, for operators: a page, and a count up to a limit. */
import { restStates } from '../../../../actors/reply/reply-event.ts'
import { type ParentCall, parentOf } from '../../../../features/sessions/index.ts'
import type { AnySql, Sql } from '../../../../persistence/postgres/database.ts'
import { type Fragment, isoTime, type PageQuery } from '../../../../persistence/postgres/page.ts'
import { isUuid } from '../../../../persistence/postgres/uuid.ts'
import { holds, type ReplyFilter, repliesMatch } from './reply-filter.ts'

const sessionStatuses = [...restStates, 'streaming'] as const
type SessionStatus = (typeof sessionStatuses)[number]

/** A session with the `status` and `errorCode` of its newest reply. */
export interface SessionOverview {
  id: string
  agentId: string
  agentName: string
  title: string | null
  user: string | null
  status: SessionStatus
  errorCode: string | null
  archived: boolean
  createdAt: string
  updatedAt: string
  parent: ParentCall | null
}

/** Filters that must all match. `q` is a part of the title, ignoring case, or the beginning of an id. */
export interface OverviewFilters {
  q?: string | undefined
  agentId?: string | undefined
  user?: string | undefined
  status?: SessionStatus | undefined
  errorCode?: string | undefined
  archived?: 'true' | 'false' | undefined
  /** Whether sessions that a call of another one made are among them: they are not by default. */
  children?: 'true' | 'false' | undefined
  /** Only those that calls of this session made. */
  parent?: string | undefined
  /** Sessions with such feedback on a message. */
  feedback?: 'up' | 'down' | 'any' | undefined
  /** The start of the range of update times. It is inclusive, and `to` is exclusive. */
  from?: Date | undefined
  to?: Date | undefined
  /** Filters that are applied to the 10,000 most recently updated sessions that match all others. */
  replies?: ReplyFilter | undefined
}

export type OverviewQuery = PageQuery & OverviewFilters

export interface OverviewPage {
  items: SessionOverview[]
  /** The count, up to `MOST_COUNTED`. */
  total: number
  /** True when there are more. */
  more: boolean
}

/** The limit of counts. Counting a million takes 100 ms, and the five hundredth page is never read. */
const MOST_COUNTED = 10_000

/** Returns a page of sessions, most recently updated first. */
export async function listAllSessions(sql: Sql, query: OverviewQuery): Promise<OverviewPage> {
  const { q = '', agentId } = query
  if (agentId !== undefined && !isUuid(agentId)) return { items: [], total: 0, more: false }
  const filter = filterOf(sql, query)
  if (query.replies !== undefined) return await searchReplies(sql, query, filter, query.replies)
  if (q === '') {
    const order = sql`select num from sessions where true ${filter}`
    const counted = sql`select count(*)::integer from (select 1 from sessions where true ${filter} limit ${MOST_COUNTED + 1}) c`
    return await readPage(sql, query, order, counted)
  }
  const titles = canBeginId(q) ? await matching(sql, titleMatches(sql, q), filter) : null
  // Few titles look like the beginning of an id.
  return titles === null || titles.length > MOST_COUNTED
    ? await searchTitles(sql, query, filter)
    : await searchIds(sql, query, filter, titles)
}

/**
 * Returns a page for a search by the beginning of an id. `titles` holds the numbers of sessions whose titles match. Ids
 * begin with the time: many are created in the same minute.
 */
async function searchIds(sql: Sql, query: OverviewQuery, filter: Fragment, titles: string[]): Promise<OverviewPage> {
  const { q = '', limit, offset } = query
  const found = titles.length > 0 ? sql`(${idMatches(sql, q)} or num = any(${titles}::bigint[]))` : idMatches(sql, q)
  const counted = await countUp(sql, found, filter)
  const newest = counted > MOST_COUNTED ? await amongNewest(sql, found, filter, offset + limit) : []
  // The expression keeps the time out of any index, so that the matches are collected and sorted: 0.2 µs each. A walk by time
  // would pass everything updated since, 0.3 µs each, which pays only when the newest sessions already fill the page.
  const order =
    newest.length >= offset + limit
      ? sql`select num from sessions where num = any(${newest}::bigint[])`
      : sql`select num from (
              select num, coalesce(updated_at, 'infinity') as updated_at from sessions where ${found} ${filter}) matches`
  return await readPage(sql, query, order, sql`${counted}::integer`)
}

/**
 * Returns a page for a search in replies. Messages are read only for the most recently updated sessions: those of a
 * million sessions are gigabytes.
 */
async function searchReplies(
  sql: Sql,
  query: OverviewQuery,
  filter: Fragment,
  replies: ReplyFilter,
): Promise<OverviewPage> {
  const [found] = await sql<{ looked: number; nums: string[] }[]>`
    with newest as materialized (
      select num, id from sessions where true ${filter} ${namedBy(sql, query)}
       order by updated_at desc, num desc limit ${MOST_COUNTED + 1})
    select (select count(*)::integer from newest) as looked,
           array(select num from newest where ${repliesMatch(sql, replies)} limit ${MOST_COUNTED})::text[] as nums`
  const { looked = 0, nums = [] } = found ?? {}
  const order = sql`select num from sessions where num = any(${nums}::bigint[])`
  const page = await readPage(sql, query, order, sql`${nums.length}::integer`)
  return { ...page, more: looked > MOST_COUNTED }
}

const namedBy = (sql: Sql, { q = '' }: OverviewFilters): Fragment =>
  q === '' ? sql`` : sql`and (${holds(sql, 'title', q)} or ${idMatches(sql, q)})`

/** Counts the sessions of each status, each up to `MOST_COUNTED`. `replies` applies as in the list. */
export async function countSessions(
  sql: Sql,
  query: OverviewFilters,
): Promise<{ status: SessionStatus; count: number }[]> {
  const { q = '', agentId, replies } = query
  if (agentId !== undefined && !isUuid(agentId)) return []
  const filter = filterOf(sql, { ...query, status: undefined })
  // One status at a time, so that each uses its index.
  if (replies === undefined && q === '') {
    const countOf = async (status: SessionStatus) => {
      const count = await countUp(sql, sql`true`, filterOf(sql, { ...query, status }))
      return { status, count: Math.min(count, MOST_COUNTED) }
    }
    return await Promise.all(sessionStatuses.map(countOf))
  }
  const matching = replies === undefined ? sql`true` : repliesMatch(sql, replies)
  const most = replies === undefined ? null : MOST_COUNTED + 1
  return await sql<{ status: SessionStatus; count: number }[]>`
    with newest as materialized (
      select id, status from sessions where true ${filter} ${namedBy(sql, query)}
       order by updated_at desc, num desc limit ${most}::bigint)
    select status, least(count(*), ${MOST_COUNTED})::integer as count from newest where ${matching} group by status`
}

/** Returns the numbers of the newest matches, at most `wanted`, among the most recently updated sessions. */
async function amongNewest(sql: Sql, found: Fragment, filter: Fragment, wanted: number): Promise<string[]> {
  const [row] = await sql<{ nums: string[] }[]>`
    select array(select num from (
      select num, id from sessions where true ${filter} order by updated_at desc, num desc limit ${MOST_COUNTED}
    ) newest where ${found} limit ${wanted})::text[] as nums`
  return row?.nums ?? []
}

async function searchTitles(sql: Sql, query: OverviewQuery, filter: Fragment): Promise<OverviewPage> {
  const { q = '' } = query
  const isCommon = (await countUp(sql, idMatches(sql, q), filter)) > MOST_COUNTED
  const ids = isCommon ? [] : await matching(sql, idMatches(sql, q), filter)
  const titles = isCommon ? [] : await matching(sql, holds(sql, 'title', q), filter)
  const nums = [...new Set([...ids, ...titles])]
  // Few matches are sorted themselves. Among many, a walk by time soon finds enough of them.
  const isMany = isCommon || nums.length > MOST_COUNTED
  const order = isMany
    ? sql`select num from sessions where (${holds(sql, 'title', q)} or ${idMatches(sql, q)}) ${filter}`
    : sql`select num from sessions where num = any(${nums}::bigint[])`
  return await readPage(sql, query, order, sql`${isMany ? MOST_COUNTED + 1 : nums.length}::integer`)
}

/**
 * Counts the matches, up to one more than the limit. By ids it reads the index alone: 2 ms instead of 25 for collecting
 * their numbers. Among a million sessions, a beginning of six characters matches all of them.
 */
async function countUp(sql: Sql, condition: Fragment, filter: Fragment): Promise<number> {
  const [row] = await sql<{ counted: number }[]>`
    select count(*)::integer as counted
      from (select 1 from sessions where ${condition} ${filter} limit ${MOST_COUNTED + 1}) c`
  return row?.counted ?? 0
}

/** Returns the conditions on a row of `sessions`, each with its `and`, except those on replies and `q`. */
export const filterOf = (
  sql: AnySql,
  { agentId, user, status, errorCode, archived, children, parent, feedback, from, to, replies }: OverviewFilters,
): Fragment =>
  sql`${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
      ${user === undefined ? sql`` : sql`and end_user = ${user}`}
      ${status === undefined ? sql`` : statusIs(sql, status)}
      ${errorCode === undefined ? sql`` : sql`and error_code = ${errorCode}`}
      ${archived === undefined ? sql`` : sql`and archived = ${archived === 'true'}`}
      ${parent === undefined ? withoutChildren(sql, children) : isBelow(sql, parent)}
      ${feedback === undefined ? sql`` : hasFeedback(sql, feedback)}
      ${from === undefined ? sql`` : sql`and updated_at >= ${from}`}
      ${to === undefined ? sql`` : sql`and updated_at < ${to}`}
      ${replies?.httpStatus === undefined ? sql`` : sql`and error_code is not null`}`

const withoutChildren = (sql: AnySql, children: OverviewFilters['children']): Fragment =>
  children === 'true' ? sql`` : sql`and parent is null`

const isBelow = (sql: AnySql, parent: string): Fragment =>
  isUuid(parent)
    ? sql`and id in (select c.session_id from children c where c.parent_session = ${parent})`
    : sql`and false`

const hasFeedback = (sql: AnySql, kind: 'up' | 'down' | 'any'): Fragment => {
  const scores = { up: [1], down: [-1], any: [1, -1] }[kind]
  return sql`and id in (select f.session_id from feedback f where f.score = any (${scores}::integer[]))`
}

/**
 * Returns the condition of a status. Conditions are repeated so that any plan may use the index
 * sessions_neither_complete_nor_streaming. Streaming sessions are found by their running replies.
 */
function statusIs(sql: AnySql, status: SessionStatus): Fragment {
  if (status === 'complete') return sql`and status = 'complete'`
  return status === 'streaming'
    ? sql`and status = 'streaming' and id in (select m.session_id from messages m where m.status = 'streaming')`
    : sql`and status = ${status} and status <> 'complete' and status <> 'streaming'`
}

/**
 * Reads a page of sessions, keys first: an index-only scan skips rows, and times are formatted only for the rows of the
 * page.
 */
async function readPage(
  sql: AnySql,
  { limit, offset }: PageQuery,
  keys: Fragment,
  counted: Fragment,
): Promise<OverviewPage> {
  const [page] = await sql<{ items: SessionOverview[]; counted: number }[]>`
    with place as materialized (
      ${keys} order by updated_at desc, num desc limit ${limit} offset ${offset}
    ), page as (
      select s.num, s.updated_at, s.id, s.agent_id as "agentId", a.name as "agentName", s.title, s.end_user as "user",
             s.status, s.error_code as "errorCode", s.archived, ${parentOf(sql)} as parent,
             ${isoTime(sql, 's.created_at')} as "createdAt", ${isoTime(sql, 's.updated_at')} as "updatedAt"
        from sessions s join agents a on a.id = s.agent_id
       where s.num in (select num from place)
    )
    select (${counted}) as counted,
           coalesce((select jsonb_agg(to_jsonb(page) - 'num' - 'updated_at' order by updated_at desc, num desc)
                       from page), '[]') as items`
  const { items = [], counted: total = 0 } = page ?? {}
  return { items, total: Math.min(total, MOST_COUNTED), more: total > MOST_COUNTED }
}

/** Returns sessions in the order of their ids. Those that are gone are left out. */
export async function overviewsOf(sql: AnySql, ids: readonly string[]): Promise<SessionOverview[]> {
  const keys = sql`select num from sessions where id = any(${[...ids]}::uuid[])`
  const { items } = await readPage(sql, { limit: ids.length, offset: 0 }, keys, sql`0`)
  const byId = new Map(items.map((item) => [item.id, item]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Returns the numbers of the matches, up to one more than the limit. */
async function matching(sql: Sql, condition: Fragment, filter: Fragment): Promise<string[]> {
  const [row] = await sql<{ nums: string[] }[]>`
    select array(select num from sessions where ${condition} ${filter} limit ${MOST_COUNTED + 1})::text[] as nums`
  return row?.nums ?? []
}

/** Returns true for a text that starts with eight digits of an id. Such a search does not read every title. */
const canBeginId = (q: string): boolean => /^[0-9a-f-]{8}/i.test(q)

/**
 * Returns the condition on titles that contain the beginning of an id. They are few, in an index of their own
 * (sessions_titled_like_ids). A walk by time must not be offered that index: PostgreSQL would collect half of all rows
 * instead.
 */
const titleMatches = (sql: Sql, q: string): Fragment => sql`${holds(sql, 'title', q)} and title ~ '[0-9A-Fa-f-]{8}'`

const uuidForm = '00000000-0000-0000-0000-000000000000'

function idMatches(sql: Sql, q: string): Fragment {
  const beginning = q.toLowerCase()
  const first = beginning + uuidForm.slice(beginning.length)
  const last = beginning + uuidForm.slice(beginning.length).replaceAll('0', 'f')
  return isUuid(first) ? sql`id between ${first} and ${last}` : sql`false`
}
