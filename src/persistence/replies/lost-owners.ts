/** Replies whose owner was declared lost: they are settled with what is stored of them. Idempotent and fenced. */
import type { Sql } from '../postgres/database.ts'

/** A title from a session's first message. Null: none can be derived. */
type DeriveTitle = (text: string) => string | null

/** Ends the replies whose owner no longer holds the epoch they were admitted under. Resolves to how many there were. */
export async function settleLost(sql: Sql, instanceId: string, deriveTitle: DeriveTitle): Promise<number> {
  const replies = await sql<{ id: string }[]>`
    select m.id from messages m
     where m.status = 'streaming'
       and not exists (select 1 from instances i where i.id = m.instance_id and i.epoch = m.epoch)`
  for (const { id } of replies) {
    const [row] = await sql<{ untitled: string | null }[]>`select lose_reply(${id}, ${instanceId}) as untitled`
    if (row?.untitled) await giveTitle(sql, row.untitled, deriveTitle)
  }
  return replies.length
}

async function giveTitle(sql: Sql, sessionId: string, deriveTitle: DeriveTitle): Promise<void> {
  const [first] = await sql<{ content: string }[]>`
    select content from messages where session_id = ${sessionId} and role = 'user' order by position limit 1`
  const title = first ? deriveTitle(first.content) : null
  if (title) await sql`update sessions set title = ${title} where id = ${sessionId} and title is null`
}
