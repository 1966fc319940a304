/** Conversations that no agent has yet: they wait for their first response (contract section 24). */
import type { GivenMessage } from '../../../../actors/ports/index.ts'
import { newId } from '../../../../actors/reply/new-id.ts'
import type { AnySql, Sql } from '../../../../persistence/postgres/database.ts'
import { jsonText } from '../../../../persistence/replies/settling/stored-reply.ts'
import type { StoredConversation } from './stored-responses.ts'

/** A message that keeps its id when the conversation becomes a session. */
export type KeptMessage = GivenMessage & { id: string }

export interface UnclaimedConversation extends Pick<StoredConversation, 'id' | 'metadata' | 'created'> {
  messages: readonly KeptMessage[]
  /** The agent whose session it becomes at the moment. Null while no response was asked for. */
  claimedBy: string | null
}

type Row = Omit<UnclaimedConversation, 'messages'> & { messages: string }

const columns = (sql: AnySql) => sql`
  id, metadata, messages, agent_id as "claimedBy", floor(extract(epoch from created_at))::float8 as created`

const readRow = ({ messages, ...row }: Row): UnclaimedConversation => ({ ...row, messages: JSON.parse(messages) })

/** Gives messages ids to keep. */
export const withIds = (messages: readonly GivenMessage[]): KeptMessage[] =>
  messages.map((message) => ({ ...message, id: message.id ?? newId() }))

/**
 * Stores a conversation of a key, and forgets those that have waited for thirty days. Returns null when the key has as
 * many as it may.
 */
export async function addUnclaimed(
  sql: Sql,
  { metadata, messages }: Pick<UnclaimedConversation, 'metadata' | 'messages'>,
  { keyId, most }: { keyId: string; most: number },
): Promise<UnclaimedConversation | null> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)}
      from add_unclaimed(${newId()}, ${jsonText(metadata)}::text::jsonb, ${JSON.stringify(messages)}, ${keyId}, ${most})`
  return row ? readRow(row) : null
}

export async function findUnclaimed(sql: Sql, id: string): Promise<UnclaimedConversation | null> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from unclaimed_conversations where id = ${id}`
  return row ? readRow(row) : null
}

/** Changes a conversation that no agent has yet, one change after the other. Returns null when there is none any more. */
export async function changeUnclaimed<T>(
  sql: Sql,
  id: string,
  change: (
    found: UnclaimedConversation,
  ) => { result: T } & Partial<Pick<UnclaimedConversation, 'metadata' | 'messages'>>,
): Promise<T | null> {
  const changed = await sql.begin(async (tx) => {
    const [row] = await tx<Row[]>`
      select ${columns(tx)} from unclaimed_conversations where id = ${id} and agent_id is null for update`
    if (row === undefined) return null
    const found = readRow(row)
    const { result, metadata = found.metadata, messages = found.messages } = change(found)
    await tx`
      update unclaimed_conversations
         set metadata = ${jsonText(metadata)}::text::jsonb, messages = ${JSON.stringify(messages)} where id = ${id}`
    return { result }
  })
  return changed === null ? null : changed.result
}

/** Claims a conversation for an agent: from then on it is not changed. Returns null when another agent has it. */
export async function claimUnclaimed(sql: Sql, id: string, agentId: string): Promise<UnclaimedConversation | null> {
  const [row] = await sql<Row[]>`
    update unclaimed_conversations set agent_id = ${agentId}
     where id = ${id} and (agent_id is null or agent_id = ${agentId})
    returning ${columns(sql)}`
  return row ? readRow(row) : null
}

/** Forgets a conversation. */
export async function forgetUnclaimed(sql: Sql, id: string): Promise<void> {
  await sql`delete from unclaimed_conversations where id = ${id}`
}
