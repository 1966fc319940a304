/** Search in the messages of all agents, in the list of sessions (contract section 31). */
import {
  type Asked,
  findSessions,
  isIndexed,
  type RunSearch,
  scopeWords,
  snippetsOf,
  termsIn,
} from '../../../features/search/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { filterOf, type OverviewQuery, overviewsOf } from './store/all-sessions.ts'
import { repliesMatch } from './store/reply-filter.ts'

/** The limit of the count: each of them is read. */
const MOST_COUNTED = 1000

/** Returns a page of the sessions with matching messages, the one with the newest first. `of`: who asks. Throws 400 and 503. */
export async function searchMessages(
  { sql, runSearch }: { sql: Sql; runSearch: RunSearch },
  of: string,
  { limit, offset, ...filters }: OverviewQuery,
) {
  const { q, agentId, user = null, replies } = filters
  const terms = termsIn(q)
  const complete = await isIndexed(sql)
  if (agentId !== undefined && !isUuid(agentId)) return { items: [], total: 0, more: false, complete }
  const asked: Asked = {
    terms,
    scope: agentId === undefined ? [] : scopeWords(agentId.toLowerCase(), user),
    isOfUser: user !== null,
    filter: (tx) => tx`
      ${filterOf(tx, filters)}
      ${replies === undefined ? tx`` : tx`and exists (select from (select sessions.id) newest where ${repliesMatch(tx, replies)})`}`,
  }
  return await runSearch(of, async (reading) => {
    const most = Math.max(MOST_COUNTED + 1, offset + limit)
    const found = await findSessions(reading, asked, { most, after: null })
    const ids = found.slice(offset, offset + limit).map(({ sessionId }) => sessionId)
    const items = []
    for (const session of await overviewsOf(reading.tx, ids))
      items.push({ ...session, snippets: await snippetsOf(reading, asked, session.id) })
    return { items, total: Math.min(found.length, MOST_COUNTED), more: found.length > MOST_COUNTED, complete }
  })
}
