/** Summaries of conversations (contract section 19). */
import type { NewCheckpoint } from '../../../actors/ports/index.ts'
import type { Sql } from '../../postgres/database.ts'
import type { Owner } from '../admission/admission.ts'

/** Idempotent. `fenced`: this instance was declared lost, or the session is gone. */
export async function storeCheckpoint(
  sql: Sql,
  owner: Owner,
  sessionId: string,
  { id, position, summary, model, usage }: NewCheckpoint,
): Promise<'stored' | 'fenced'> {
  const { promptTokens, completionTokens, estimated, ...counted } = usage
  const { count } = await sql`
    with owner as materialized (
      select 1 from instances i where i.id = ${owner.id} and i.epoch = ${owner.epoch} for key share
    ), held as materialized (
      select s.id from sessions s where s.id = ${sessionId} and exists (select 1 from owner) for key share
    )
    insert into checkpoints (id, session_id, position, summary, model, prompt_tokens, completion_tokens, usage_estimated, counted)
    select ${id}, h.id, ${position}, ${summary}, ${model}, ${promptTokens}, ${completionTokens}, ${estimated},
           ${JSON.stringify(counted)}::text::jsonb
      from held h
    on conflict (id) do update set summary = excluded.summary`
  return count > 0 ? 'stored' : 'fenced'
}
