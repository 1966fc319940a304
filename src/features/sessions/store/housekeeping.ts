/** Deletes expired data of conversations. Each step is one idempotent statement that any instance may run. */

import type { Sql } from '../../../persistence/postgres/database.ts'

/** Most rows that one statement deletes, so that nothing else waits for long. */
const BATCH = 5000

/** Deletes what has expired. `sessionDays`: sessions idle for longer are removed. Null means never. */
export async function tidyReplies(sql: Sql, sessionDays: number | null): Promise<void> {
  await sql`delete from idempotency_keys where created_at < clock_timestamp() - interval '24 hours'`
  await sql`delete from intents where created_at < clock_timestamp() - interval '1 day'`
  // What was in flight while its session was deleted, and what owners that died had not deleted yet.
  await sql`
    delete from flushes f
     where not exists (select 1 from instances i where i.id = f.instance_id and i.epoch = f.epoch)
       and not exists (select 1 from messages m
                        where m.instance_id = f.instance_id and m.epoch = f.epoch and m.status = 'streaming')`
  await sql`
    select clear_frames(array(
      select distinct r.session_num from frame_runs r
       where not exists (select 1 from sessions s where s.num = r.session_num and s.next_seq <= r.seq)))`
  if (sessionDays !== null) await removeIdle(sql, sessionDays)
}

async function removeIdle(sql: Sql, days: number): Promise<void> {
  for (let removed = BATCH; removed === BATCH; ) {
    const rows = await sql`
      select delete_sessions(null, array(
        -- Locked, so that a message which arrives meanwhile keeps its session; skipped, so that nobody deadlocks.
        select s.id from sessions s
         where s.updated_at < clock_timestamp() - ${`${days} days`}::interval and s.parent is null
           and not exists (select 1 from messages m where m.session_id = s.id and m.status = 'streaming')
         limit ${BATCH} for update skip locked))`
    removed = rows.length
  }
}
