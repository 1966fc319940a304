/** Strays on either side: rows that stream with nobody at work on them, and replies at work without such a row. */
import type { Sql } from 'postgres'
import type { OwnedReplies, ReplyInfo } from '../actors/ports.ts'

interface Instance {
  sql: Sql<Record<string, unknown>>
  id: string
  epoch: number
}

/** int8 comes as text where the pool does not say otherwise. */
type StrayRow = Omit<ReplyInfo, 'sessionNum' | 'firstSeq' | 'epoch'> & {
  sessionNum: string
  firstSeq: string
  epoch: string
}

const infoOf = (row: StrayRow): ReplyInfo => ({
  ...row,
  epoch: Number(row.epoch),
  sessionNum: Number(row.sessionNum),
  firstSeq: Number(row.firstSeq),
})

/** Compares both sides; what differs for the second time in a row is settled. `seen` is what the last call returned. */
export async function settleStrays(
  { sql, id, epoch }: Instance,
  owned: OwnedReplies,
  seen: ReadonlySet<string>,
): Promise<Set<string>> {
  const rows = await sql<StrayRow[]>`
    select id, session_id as "sessionId", session_num as "sessionNum", first_seq as "firstSeq", model,
           created_at::text as "createdAt", include_usage as "includeUsage",
           instance_id as "instanceId", epoch
      from messages where status = 'streaming' and instance_id = ${id} and epoch = ${epoch}`
  const stored = new Set(rows.map((row) => row.id))
  const running = owned.running()
  const suspects = new Set<string>()
  for (const row of rows) {
    if (running.has(row.id)) continue
    if (seen.has(row.id)) await owned.settleOrphan(infoOf(row))
    else suspects.add(row.id)
  }
  for (const replyId of running) {
    if (stored.has(replyId)) continue
    if (seen.has(replyId)) owned.dropOrphan(replyId)
    else suspects.add(replyId)
  }
  return suspects
}
