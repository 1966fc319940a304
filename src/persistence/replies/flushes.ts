/** A flush: the frames of many replies in one statement, fenced by this instance's epoch, on a connection of its own. */
import type { Sql } from '../postgres/database.ts'
import { type FrameColumns, frameColumns, type ReplyFrames } from './stored-reply.ts'

export interface FlushOptions {
  /** Opens the flushes' own single connection; opened anew when a flush hangs. */
  connectWriter(): Sql
  /** This instance, and the epoch that it believes in now. */
  instance: { readonly id: string; epoch(): number }
  /** A flush without an answer for so long is sent again on a new connection (milliseconds). */
  flushTimeoutMs: number
  /** Others ask something of this instance (cancel, delete): its intents are worth reading now. */
  onIntents(): void
  /** A flush was answered: how much it held, and how long it took (milliseconds). Absent: nobody measures. */
  onFlush?: ((flush: { frames: number; replies: number; ms: number }) => void) | undefined
}

/** How often flushes check for intents (ms). */
const CHECK_MS = 100

export function createFlushes({ connectWriter, flushTimeoutMs, instance, onFlush, onIntents }: FlushOptions) {
  const writer = createWriter({ connectWriter, flushTimeoutMs })
  let checkAt = 0
  return {
    /** Rejects as the driver does. `maybeStored`: it was sent before, and its answer was lost. */
    async store(batch: readonly ReplyFrames[], epoch: number, maybeStored: boolean): Promise<'stored' | 'fenced'> {
      const columns = frameColumns(batch)
      const begin = performance.now()
      const isPlain = !maybeStored && columns.nums.length > 0 && !columns.hasReasoning && begin < checkAt
      if (!isPlain) checkAt = begin + CHECK_MS
      const { held, asked } = await writer.ask((sql) =>
        isPlain
          ? insertPlainly(sql, instance.id, epoch, columns)
          : insertAndCheck(sql, instance.id, epoch, columns, maybeStored),
      )
      onFlush?.({ frames: columns.nums.length, replies: batch.length, ms: performance.now() - begin })
      if (asked) onIntents()
      return held ? 'stored' : 'fenced'
    },
    end: writer.end,
  }
}

/** The flushes' connection, opened anew when one hangs. */
function createWriter({ connectWriter, flushTimeoutMs }: Pick<FlushOptions, 'connectWriter' | 'flushTimeoutMs'>) {
  let sql = connectWriter()
  return {
    async ask<T>(statement: (sql: Sql) => Promise<T>): Promise<T> {
      const { promise: hung, reject } = Promise.withResolvers<never>()
      const timer = setTimeout(() => {
        reject(Object.assign(new Error('A flush has had no answer.'), { code: 'CONNECTION_CLOSED' }))
        void sql.end({ timeout: 0 }).catch(() => {})
        sql = connectWriter()
      }, flushTimeoutMs)
      try {
        return await Promise.race([statement(sql), hung])
      } finally {
        clearTimeout(timer)
      }
    },
    end: () => sql.end({ timeout: 1 }),
  }
}

interface Inserted {
  /** This instance still has its epoch. */
  held: boolean
  /** Others ask something of it. */
  asked: boolean
}

/**
 * For rows that are not stored yet and hold no reasoning, one at least: their count tells whether the epoch was held. A
 * tool event that is no jsonb is refused: folded later, it would keep its reply running for ever. (In one piece: a part of a statement is a
 * query of its own, which keeps its values as pool.ts, `forget`, tells.)
 */
async function insertPlainly(sql: Sql, id: string, epoch: number, columns: FrameColumns): Promise<Inserted> {
  const { nums, seqs, parts, texts } = columns
  const { count } = await sql`
    insert into frames (session_num, seq, part, event)
    select f.num, f.seq, f.part, case when f.part = 0 then f.event else f.event::jsonb::text end
      from unnest(${nums}::bigint[], ${seqs}::bigint[], ${parts}::smallint[], ${texts}::text[])
           as f (num, seq, part, event)
     where (select true from instances where id = ${id} and epoch = ${epoch} for key share)`
  return { held: count > 0, asked: false }
}

/**
 * For any rows, by the same insert; the part of a row of reasoning is -1 on its way here. What is `maybeStored` already does no harm: a frame's key decides, and the same key
 * always has the same content. A fifth more than the plain statement costs, and as much again for what may be stored.
 */
async function insertAndCheck(
  sql: Sql,
  id: string,
  epoch: number,
  { nums, seqs, parts, texts }: FrameColumns,
  maybeStored: boolean,
): Promise<Inserted> {
  const [row] = await sql<Inserted[]>`
    with me as materialized (
      select 1 from instances where id = ${id} and epoch = ${epoch} for key share
    ), put as (
      insert into frames (session_num, seq, part, event, reasoning)
      select f.num, f.seq, greatest(f.part, 0),
             case when f.part = 0 then f.event when f.part > 0 then f.event::jsonb::text else '' end,
             case when f.part < 0 then f.event end
        from unnest(${nums}::bigint[], ${seqs}::bigint[], ${parts}::smallint[], ${texts}::text[])
             as f (num, seq, part, event)
       where exists (select 1 from me) ${maybeStored ? sql`on conflict do nothing` : sql``}
    )
    select exists (select 1 from me) as held,
           exists (select 1 from intents where instance_id = ${id}) as asked`
  return row ?? { held: false, asked: false }
}
