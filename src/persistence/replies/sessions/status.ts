/** The status of sessions that are older than the column (migration 017), filled in behind everything else. */
import type { Sql } from '../../postgres/database.ts'

/** Locked at a time: each takes about 20 µs, and a message to one of them waits for the others. */
const BATCH = 500

/** Returns how many it filled in. A session that is locked is at work, and gets its status from that, or next time. */
export async function fillSessionStatus(sql: Sql, signal?: AbortSignal): Promise<number> {
  let filled = 0
  while (!signal?.aborted) {
    const { count } = await sql`
      with next as materialized (
        select id from sessions where status is null order by num limit ${BATCH} for update skip locked
      ), newest as materialized (
        select n.id, m.status, m.finish_reason, m.error_code
          from next n
          left join lateral (select m.status, m.finish_reason, m.error_code from messages m
                              where m.session_id = n.id and m.role = 'assistant' and m.first_seq is not null
                              order by m.position desc limit 1) m on true
      )
      update sessions s
         set status = coalesce(rest_state(newest.finish_reason), newest.status, 'idle'),
             error_code = newest.error_code
        from newest where s.id = newest.id`
    filled += count
    if (count < BATCH) break
  }
  return filled
}
