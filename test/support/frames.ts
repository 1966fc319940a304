/** The frames of running replies as they are stored: for tests that look behind the product, or write what it would. */
import type { Sql } from '../../src/persistence/postgres/database.ts'

export interface StoredFrame {
  session_num: number
  seq: number
  part: number
  text: string
}

/** Returns all frames that are stored, in flushes and in runs, in order; as often as they are stored. */
export const storedFrames = (sql: Sql, sessionNum: number | null = null): Promise<StoredFrame[]> =>
  sql<StoredFrame[]>`
    select * from (
      select u.* from flushes l
       cross join unnest(l.session_nums, l.seqs, l.parts, l.texts) as u (session_num, seq, part, text)
      union all
      select r.session_num, u.* from frame_runs r cross join unnest(r.seqs, r.parts, r.texts) as u (seq, part, text)
    ) f
     where ${sessionNum}::bigint is null or f.session_num = ${sessionNum}::bigint
     order by f.session_num, f.seq, f.part`

/** Stores one as a run of its own. */
export const storeFrame = (sql: Sql, { session_num, seq, part, text }: StoredFrame) =>
  sql`insert into frame_runs (session_num, seq, part, seqs, parts, texts)
      values (${session_num}, ${seq}, ${part}, ${[seq]}::bigint[], ${[part]}::smallint[], ${[text]}::text[])`
