/** Replies whose owner was declared lost: they are settled with what is stored of them. Idempotent and fenced. */
import type { Sql } from '../postgres/database.ts'

/** A title from a session's first message. Null: none can be derived. */
type DeriveTitle = (text: string) => string | null

/** What the rows know of a lost reply. `ms`: since its admission, by the database's clock. */
export interface LostReply {
  replyId: string
  sessionId: string
  agentId: string | null
  providerId: string | null
  model: string | null
  instanceId: string
  ms: number
}

/** Ends the replies whose owner no longer holds the epoch they were admitted under. Resolves to those that it ended. */
export async function settleLost(sql: Sql, instanceId: string, deriveTitle: DeriveTitle): Promise<LostReply[]> {
  const replies = await sql<LostReply[]>`
    select m.id as "replyId", m.session_id as "sessionId", s.agent_id as "agentId", a.provider_id as "providerId",
           m.model, m.instance_id as "instanceId",
           (extract(epoch from clock_timestamp() - m.created_at) * 1000)::float8 as ms
      from messages m left join sessions s on s.id = m.session_id left join agents a on a.id = s.agent_id
     where m.status = 'streaming'
       and not exists (select 1 from instances i where i.id = m.instance_id and i.epoch = m.epoch)`
  const lost: LostReply[] = []
  for (const reply of replies) {
    const [row] = await sql<{ answer: { untitled: boolean } | null }[]>`
      select lose_reply(${reply.replyId}, ${instanceId}) as answer`
    if (!row?.answer) continue // another instance was quicker, or the session is gone
    lost.push(reply)
    if (row.answer.untitled) await giveTitle(sql, reply.sessionId, deriveTitle)
  }
  return lost
}

async function giveTitle(sql: Sql, sessionId: string, deriveTitle: DeriveTitle): Promise<void> {
  const [first] = await sql<{ content: string }[]>`
    select content from messages where session_id = ${sessionId} and role = 'user' order by position limit 1`
  const title = first ? deriveTitle(first.content) : null
  if (title) await sql`update sessions set title = ${title} where id = ${sessionId} and title is null`
}
