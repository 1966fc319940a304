/** The opinions of users and of people at the playground of replies (contract section 28). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { limitColumns, type StorageLimits } from '../../../persistence/replies/sessions/storage-limits.ts'
import { jsonText } from '../../../persistence/replies/settling/stored-reply.ts'

/** A reply, and who speaks of it: the session's user, or a login or key by its name. */
export interface FeedbackPlace {
  agentId: string
  sessionId: string
  messageId: string
  by: 'user' | 'login'
  /** Null for a user, and for a login without a name. */
  name: string | null
}

export interface Score {
  score: 1 | -1
  comment: string | null
}

/** Times are ISO 8601 UTC. */
export interface Given extends Score {
  createdAt: string
  updatedAt: string
}

export type NotGiven = 'no_session' | 'no_message' | 'no_reply' | 'running' | 'session_full' | 'user_full'

interface Row {
  outcome: NotGiven | 'stored' | 'same' | 'new'
  score: 1 | -1
  comment: string | null
  created_at: string
  updated_at: string
}

/**
 * Stores feedback. `limits`: null to look alone. `new`: a look found that it would be stored.
 */
export async function putFeedback(
  sql: Sql,
  { agentId, sessionId, messageId, by, name }: FeedbackPlace,
  { score, comment }: Score,
  limits: StorageLimits | null,
): Promise<Given | NotGiven | 'new'> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return 'no_session'
  if (!isUuid(messageId)) return 'no_message'
  const wanted = jsonText({
    ...{ agent_id: agentId, session_id: sessionId, message_id: messageId, given_by: by, name, score, comment },
    ...(limits ? limitColumns(limits) : { looks: true }),
  })
  const [row] = await sql<{ answer: Row }[]>`select put_feedback(${wanted}::text::jsonb) as answer`
  if (row === undefined) throw new Error('put_feedback returned no row')
  const { answer } = row
  if (answer.outcome !== 'stored' && answer.outcome !== 'same') return answer.outcome
  const isoOf = (time: string) => new Date(time).toISOString()
  return {
    score: answer.score,
    comment: answer.comment,
    createdAt: isoOf(answer.created_at),
    updatedAt: isoOf(answer.updated_at),
  }
}

/** Removes feedback, if there is any. */
export async function removeFeedback(
  sql: Sql,
  { agentId, sessionId, messageId, by, name }: FeedbackPlace,
): Promise<'removed' | 'no_session' | 'no_message'> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return 'no_session'
  if (!isUuid(messageId)) return 'no_message'
  const [row] = await sql<{ outcome: 'removed' | 'no_session' | 'no_message' }[]>`
    select remove_feedback(${agentId}, ${sessionId}, ${messageId}, ${by}, ${name}) as outcome`
  return row?.outcome ?? 'no_session'
}
