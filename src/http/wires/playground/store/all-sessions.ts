/** The sessions of all agents, for operators: a page, and how many there are up to a limit. */
import { restStates } from '../../../../actors/reply/reply-event.ts'
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { type Fragment, isoTime, type PageQuery } from '../../../../persistence/postgres/page.ts'
import { isUuid } from '../../../../persistence/postgres/uuid.ts'
import { holds, type ReplyFilter, repliesMatch } from './reply-filter.ts'

const sessionStatuses = [...restStates, 'streaming'] as const
export type SessionStatus = (typeof sessionStatuses)[number]

/** A session whose `status` and `errorCode` are those of its newest reply. */
export interface SessionOverview {
  id: string
  agentId: string
  agentName: string
  title: string | null
  user: string | null
  status: SessionStatus
  errorCode: string | null
  createdAt: string
  updatedAt: string
}

/** All that is given must hold. `q`: a part of the title, without case, or the beginning of an id. */
export interface OverviewFilters {
  q?: string | undefined
  agentId?: string | undefined
  user?: string | undefined
  status?: SessionStatus | undefined
  errorCode?: string | undefined
  /** The session was updated from this time on, and before that one. */
  from?: Date | undefined
  to?: Date | undefined
  /** These filters are applied to the 10,000 most recently updated sessions that match all others. */
  replies?: ReplyFilter | undefined
}

export type OverviewQuery = PageQuery & OverviewFilters

export interface OverviewPage {
  items: SessionOverview[]
  /** Up to `MOST_COUNTED`. */
  total: number
  /** There are more than that. */
  more: boolean
}

/** Counting a million takes 100 ms, and the five hundredth page is never read. */
const MOST_COUNTED = 10_000

/** Most recently updated first. */
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
  // Hardly any title looks like the beginning of an id.
  return titles === null || titles.length > MOST_COUNTED
    ? await searchTitles(sql, query, filter)
    : await searchIds(sql, query, filter, titles)
}

/** `titles`: the numbers of those whose title matches. Ids begin with the time, so that many are made in the same minute. */
async function searchIds(sql: Sql, query: OverviewQuery, filter: Fragment, titles: string[]): Promise<OverviewPage> {
  const { q = '', limit, offset } = query
  const found = titles.length > 0 ? sql`(${idMatches(sql, q)} or num = any(${titles}::bigint[]))` : idMatches(sql, q)
  const counted = await countUp(sql, found, filter)
  const newest = counted > MOST_COUNTED ? await amongNewest(sql, found, filter, offset + limit) : []
  // An expression keeps the time out of any index, so that the matches are gathered and ordered: 0.2 µs each. Walking by time
  // instead passes all that was updated since, 0.3 µs each, which is worth it only where the newest already fill the page.
  const order =
    newest.length >= offset + limit
      ? sql`select num from sessions where num = any(${newest}::bigint[])`
      : sql`select num from (
              select num, coalesce(updated_at, 'infinity') as updated_at from sessions where ${found} ${filter}) matches`
  return await readPage(sql, query, order, sql`${counted}::integer`)
}

/** Messages are read only for the sessions that were updated last: those of a million sessions are gigabytes. */
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

/** How many sessions have each status, each counted up to `MOST_COUNTED`; `replies` as in the list. */
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

/** The numbers of the newest matches, `wanted` at most, as far as they are among the sessions that were updated last. */
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
  // Where few match, the matches themselves are ordered. Where many do, walking by time soon meets enough of them.
  const isMany = isCommon || nums.length > MOST_COUNTED
  const order = isMany
    ? sql`select num from sessions where (${holds(sql, 'title', q)} or ${idMatches(sql, q)}) ${filter}`
    : sql`select num from sessions where num = any(${nums}::bigint[])`
  return await readPage(sql, query, order, sql`${isMany ? MOST_COUNTED + 1 : nums.length}::integer`)
}

/**
 * How many match, one more than are counted at most. By ids it reads the index alone, 2 ms where gathering their numbers
 * took 25: of a million sessions a beginning of six characters is that of all.
 */
async function countUp(sql: Sql, condition: Fragment, filter: Fragment): Promise<number> {
  const [row] = await sql<{ counted: number }[]>`
    select count(*)::integer as counted
      from (select 1 from sessions where ${condition} ${filter} limit ${MOST_COUNTED + 1}) c`
  return row?.counted ?? 0
}

const filterOf = (sql: Sql, { agentId, user, status, errorCode, from, to, replies }: OverviewFilters): Fragment =>
  sql`${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
      ${user === undefined ? sql`` : sql`and end_user = ${user}`}
      ${status === undefined ? sql`` : statusIs(sql, status)}
      ${errorCode === undefined ? sql`` : sql`and error_code = ${errorCode}`}
      ${from === undefined ? sql`` : sql`and updated_at >= ${from}`}
      ${to === undefined ? sql`` : sql`and updated_at < ${to}`}
      ${replies?.httpStatus === undefined ? sql`` : sql`and error_code is not null`}`

/**
 * The conditions stand twice, so that any plan may use the index sessions_neither_complete_nor_streaming. Sessions that stream
 * are found by their running replies.
 */
function statusIs(sql: Sql, status: SessionStatus): Fragment {
  if (status === 'complete') return sql`and status = 'complete'`
  return status === 'streaming'
    ? sql`and status = 'streaming' and id in (select m.session_id from messages m where m.status = 'streaming')`
    : sql`and status = ${status} and status <> 'complete' and status <> 'streaming'`
}

/** Keys first: an index-only scan skips rows, and times are formatted for the rows of the page only. */
async function readPage(
  sql: Sql,
  { limit, offset }: OverviewQuery,
  keys: Fragment,
  counted: Fragment,
): Promise<OverviewPage> {
  const [page] = await sql<{ items: SessionOverview[]; counted: number }[]>`
    with place as materialized (
      ${keys} order by updated_at desc, num desc limit ${limit} offset ${offset}
    ), page as (
      select s.num, s.updated_at, s.id, s.agent_id as "agentId", a.name as "agentName", s.title, s.end_user as "user",
             s.status, s.error_code as "errorCode",
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

/** The numbers of those that match, one more than are counted at most. */
async function matching(sql: Sql, condition: Fragment, filter: Fragment): Promise<string[]> {
  const [row] = await sql<{ nums: string[] }[]>`
    select array(select num from sessions where ${condition} ${filter} limit ${MOST_COUNTED + 1})::text[] as nums`
  return row?.nums ?? []
}

/** Eight digits of an id: a search for an id does not read every title. */
const canBeginId = (q: string): boolean => /^[0-9a-f-]{8}/i.test(q)

/**
 * A title with the beginning of an id in it is of the few in an index of their own (sessions_titled_like_ids). (Who walks
 * by time must not be offered that index: PostgreSQL would rather gather half of all rows.)
 */
const titleMatches = (sql: Sql, q: string): Fragment => sql`${holds(sql, 'title', q)} and title ~ '[0-9A-Fa-f-]{8}'`

const uuidForm = '00000000-0000-0000-0000-000000000000'

function idMatches(sql: Sql, q: string): Fragment {
  const beginning = q.toLowerCase()
  const first = beginning + uuidForm.slice(beginning.length)
  const last = beginning + uuidForm.slice(beginning.length).replaceAll('0', 'f')
  return isUuid(first) ? sql`id between ${first} and ${last}` : sql`false`
}
