/** Replies as the Responses API identifies them: by their own ids, in any session (contract section 24). */
import type { ResponseRequest } from '../../../../actors/ports/index.ts'
import type { MessageStatus } from '../../../../actors/reply/reply-event.ts'
import type { AnySql, Sql } from '../../../../persistence/postgres/database.ts'
import { isoTime } from '../../../../persistence/postgres/page.ts'
import { isUuid } from '../../../../persistence/postgres/uuid.ts'
import { jsonText } from '../../../../persistence/replies/settling/stored-reply.ts'
import { ITEM_ENCODER } from '../../../sending/message-record.ts'

/** Returns the version of a message's encoder. Versions of before stored it with the request, or not at all. */
export const encoderOf = (sql: AnySql) =>
  sql`coalesce(m.facts -> 'encoder', m.facts #> '{response,encoder}', '1')::integer`

export interface StoredResponse {
  id: string
  agentId: string
  sessionId: string
  /** The session's end user. Null without one. */
  user: string | null
  /** The status of the reply; `queued` while its message is in the queue, `dequeued` when it was cancelled there. */
  status: MessageStatus | 'queued' | 'dequeued'
  /** The time of the request (ISO 8601, UTC) and the agent's current model. Null when it has begun. */
  queued: { createdAt: string; model: string } | null
  /** The version of the encoder that numbers its events. */
  encoder: number
  /** The reply before it. Null without one. */
  previousId: string | null
  /** The user message that it answers. Null when it carries out decisions. */
  questionId: string | null
  /** The request of the response. Null when another API started the reply. */
  request: ResponseRequest | null
}

/**
 * Returns a reply of any agent, or null. Messages that were given with a session are not replies. One statement reads
 * one snapshot: a message that starts in the meantime is either in the queue or a stored message.
 */
export async function findResponse(sql: Sql, id: string): Promise<StoredResponse | null> {
  const [row] = await sql<StoredResponse[]>`
    select m.id, s.agent_id as "agentId", s.id as "sessionId", s.end_user as "user", m.status, null::jsonb as queued,
           ${encoderOf(sql)} as encoder, whole_response(s.id, m.facts) as request,
           case when m.continues is null then q.id end as "questionId",
           case when m.continues is not null then (
                  select c.id from messages c where c.id = m.continues and (c.first_seq is not null or c.model is not null))
                else (select p.id from messages p
                       where p.session_id = m.session_id and p.position = coalesce(q.parent, q.position - 1)
                         and p.role = 'assistant') end as "previousId"
      from messages m
      join sessions s on s.id = m.session_id
      left join messages q on q.session_id = m.session_id and q.position = coalesce(m.parent, m.position - 1)
     where m.id = ${id} and m.role = 'assistant' and m.first_seq is not null
     union all
    select q.reply_id, s.agent_id, s.id, s.end_user, 'queued',
           jsonb_build_object('createdAt', ${isoTime(sql, 'q.created_at')}, 'model', a.model),
           ${ITEM_ENCODER}::integer, whole_response(s.id, q.message -> 'facts'), q.id, (q.message -> 'place' ->> 'parent')::uuid
      from queued_messages q join sessions s on s.id = q.session_id join agents a on a.id = s.agent_id
     where q.reply_id = ${id} and q.admission is null
     union all
    select d.reply_id, s.agent_id, s.id, s.end_user, 'dequeued',
           jsonb_build_object('createdAt', ${isoTime(sql, 'd.asked_at')}, 'model', d.model),
           ${ITEM_ENCODER}::integer, d.request, null, d.previous_id
      from dequeued_responses d join sessions s on s.id = d.session_id
     where d.reply_id = ${id} and d.at > clock_timestamp() - interval '24 hours'
       and not exists (select 1 from queued_messages q where q.reply_id = d.reply_id)
       and not exists (select 1 from messages m where m.id = d.reply_id)`
  return row ?? null
}

/**
 * Stores that a queued response is about to be cancelled. The note counts once the message is in the queue no more, and
 * has not begun.
 */
export async function noteDequeued(
  sql: Sql,
  { id, sessionId, previousId, queued, request }: StoredResponse,
): Promise<void> {
  await sql`
    with old as (delete from dequeued_responses d where d.at < clock_timestamp() - interval '24 hours')
    insert into dequeued_responses (reply_id, session_id, previous_id, asked_at, model, request)
    select ${id}, s.id, ${previousId}, ${queued?.createdAt ?? null}::text::timestamptz, ${queued?.model ?? ''},
           ${request === null ? null : jsonText(request)}::text::jsonb
      from sessions s where s.id = ${sessionId}
    on conflict do nothing`
}

/** Forgets that a response was cancelled in the queue. */
export async function forgetDequeued(sql: Sql, id: string): Promise<void> {
  await sql`delete from dequeued_responses where reply_id = ${id}`
}

/**
 * Returns the reply that a retry without its request's key joins when its request created a session. That is the
 * newest reply of a session that the same request (`madeBy`) created for this user in the last ten minutes, while it
 * runs or after its requester was lost.
 */
export async function firstReplyOf(
  sql: Sql,
  { agentId, user, madeBy }: { agentId: string; user: string; madeBy: string },
): Promise<string | null> {
  if (!isUuid(agentId)) return null
  const [row] = await sql<{ id: string }[]>`
    select r.id
      from sessions s
     cross join lateral (
       select m.id, m.status, m.requester_lost, m.facts from messages m
        where m.session_id = s.id and m.first_seq is not null order by m.position desc limit 1) r
     where s.agent_id = ${agentId} and s.end_user = ${user} and s.updated_at > clock_timestamp() - interval '10 minutes'
       and s.created_at > clock_timestamp() - interval '10 minutes'
       and r.facts ->> 'madeBy' = ${madeBy} and (r.status = 'streaming' or r.requester_lost)
     order by s.updated_at desc limit 1`
  return row?.id ?? null
}

export interface StoredConversation {
  id: string
  agentId: string
  user: string | null
  metadata: Record<string, string>
  /** The time of creation, in Unix seconds. */
  created: number
}

/** Returns a conversation of any agent, or null. */
export async function findConversation(sql: Sql, id: string): Promise<StoredConversation | null> {
  const [row] = await sql<StoredConversation[]>`
    select id, agent_id as "agentId", end_user as "user", metadata,
           floor(extract(epoch from created_at))::float8 as created
      from sessions where id = ${id}`
  return row ?? null
}
