/** Searching an agent's sessions (contract section 31). */
import type { components } from '../../../../openapi/generated/schema.ts'
import { HttpError, missing } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { Session } from '../../sessions/index.ts'
import { callerName, type DeployHandlers, userOf } from '../../users/index.ts'
import type { Asked } from '../store/candidates.ts'
import { findSessions, sessionsOf, snippetsOf } from '../store/search.ts'
import { isIndexed, scopeWords } from '../store/search-index.ts'
import { cursorOf, placeOf, type RunSearch, termsIn } from './run-search.ts'

export interface SearchDependencies {
  sql: Sql
  runSearch: RunSearch
  /** The form in which the deploy API shows a session. */
  show: (session: Session) => components['schemas']['DeploySession']
}

export const searchHandlers = ({ sql, runSearch, show }: SearchDependencies) =>
  ({
    searchSessions: async ({ params, query, caller }) => {
      const { q, cursor, limit = 20, metadata, archived } = query
      const owner = userOf(caller)
      if (owner !== null && query.user !== undefined && query.user !== owner)
        throw new HttpError(403, 'user: a client secret searches the sessions of its own user')
      const terms = termsIn(q)
      const after = cursor === undefined ? null : placeOf(cursor)
      const agentId = isUuid(params.agent_id) ? params.agent_id.toLowerCase() : missing('agent')
      const [known] = await sql`select 1 from agents where id = ${agentId}`
      if (known === undefined) missing('agent')
      const user = owner ?? query.user ?? null
      const asked: Asked = {
        terms,
        scope: scopeWords(agentId, user),
        isOfUser: user !== null,
        filter: (tx) => tx`
          and agent_id = ${agentId} ${user === null ? tx`` : tx`and end_user = ${user}`}
          ${metadata === undefined ? tx`` : tx`and metadata @> ${JSON.stringify(metadata)}::text::jsonb`}
          ${archived === undefined ? tx`` : tx`and archived = ${archived === 'true'}`}`,
      }
      return await runSearch(callerName(caller), async (reading) => {
        const found = await findSessions(reading, asked, { most: limit + 1, after })
        const page = found.slice(0, limit)
        const records = await sessionsOf(
          reading,
          page.map(({ sessionId }) => sessionId),
        )
        const results = []
        for (const { sessionId } of page) {
          const session = records.get(sessionId)
          if (session === undefined) continue
          const snippets = await snippetsOf(reading, asked, sessionId)
          results.push({
            session: show(session),
            snippets: snippets.map(({ messageId, createdAt, ...rest }) => ({
              message_id: messageId,
              ...rest,
              created_at: createdAt,
            })),
          })
        }
        const last = page.at(-1)
        const next = found.length > limit && last !== undefined ? cursorOf(last) : null
        return { results, next, complete: await isIndexed(sql) }
      })
    },
  }) satisfies DeployHandlers<'search'>
