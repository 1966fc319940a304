/** A flush: the frames of many replies in one row, fenced by this instance's epoch, on a connection of its own. */
import type { Sql } from '../../postgres/database.ts'
import { type FrameColumns, frameColumns, type ReplyFrames } from '../settling/stored-reply.ts'

export interface FlushOptions {
  /** Opens the flushes' own single connection; opened anew when a flush hangs. */
  connectWriter(): Sql
  /** This instance, and the epoch that it believes in now. */
  instance: { readonly id: string; epoch(): number }
  /** A flush without an answer for so long is sent again on a new connection (milliseconds). */
  flushTimeoutMs: number
  /** Tells that others ask something of this instance (cancel, delete): its intents are worth reading now. */
  onIntents(): void
  /** A flush was answered: how much it held, and how long it took (milliseconds). When absent, nothing is measured. */
  onFlush?: ((flush: { frames: number; replies: number; ms: number }) => void) | undefined
}

export interface Flush {
  num: number
  epoch: number
  /** True when it was sent before, and its answer was lost. */
  maybeStored: boolean
}

/** The interval at which flushes check for intents (ms). */
const CHECK_MS = 100

export function createFlushes({ connectWriter, flushTimeoutMs, instance, onFlush, onIntents }: FlushOptions) {
  const writer = createWriter({ connectWriter, flushTimeoutMs })
  let checkAt = 0
  return {
    /** Rejects as the driver does. `num`: higher than those before it; the same when it is sent again. */
    async store(batch: readonly ReplyFrames[], { num, epoch, maybeStored }: Flush): Promise<'stored' | 'fenced'> {
      const columns = frameColumns(batch)
      const begin = performance.now()
      const isPlain = !maybeStored && columns.seqs.length > 0 && !columns.hasEvents && begin < checkAt
      if (!isPlain) checkAt = begin + CHECK_MS
      const key = { id: instance.id, epoch, num }
      const { held, asked } = await writer.ask((sql) =>
        isPlain ? insertPlainly(sql, key, columns) : insertAndCheck(sql, key, columns),
      )
      onFlush?.({ frames: columns.seqs.length, replies: batch.length, ms: performance.now() - begin })
      if (asked) onIntents()
      return held ? 'stored' : 'fenced'
    },
    end: writer.end,
  }
}

/** Creates the flushes' connection, opened anew when one hangs. */
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
  /** True when others ask something of it. */
  asked: boolean
}

interface Key {
  id: string
  epoch: number
  num: number
}

/**
 * Stores frames that are not stored yet and hold no events, at least one: the count tells whether the epoch was held. (In one
 * piece, both of them: a part of a statement is a query of its own, which keeps its values as pool.ts, `forget`, tells.)
 */
async function insertPlainly(
  sql: Sql,
  { id, epoch, num }: Key,
  { nums, seqs, parts, texts }: FrameColumns,
): Promise<Inserted> {
  const { count } = await sql`
    insert into flushes (instance_id, epoch, num, session_nums, seqs, parts, texts)
    select ${id}::uuid, ${epoch}::bigint, ${num}::bigint,
           ${nums}::bigint[], ${seqs}::bigint[], ${parts}::smallint[], ${texts}::text[]
     where (select true from instances where id = ${id} and epoch = ${epoch} for key share)`
  return { held: count > 0, asked: false }
}

/**
 * Stores any frames. An event that is no jsonb is refused: folded later, it would keep its reply running for ever. What may
 * be stored already does no harm: its number decides, and the same number always has the same content. Rows that are stored
 * along have ids of their own.
 */
async function insertAndCheck(
  sql: Sql,
  { id, epoch, num }: Key,
  { nums, seqs, parts, texts, along }: FrameColumns,
): Promise<Inserted> {
  const rows = along.length > 0 ? JSON.stringify(along) : null
  const [row] = await sql<Inserted[]>`
    with me as materialized (
      select 1 from instances where id = ${id} and epoch = ${epoch} for key share
    ), put as (
      insert into flushes (instance_id, epoch, num, session_nums, seqs, parts, texts)
      select ${id}::uuid, ${epoch}::bigint, ${num}::bigint, ${nums}::bigint[], ${seqs}::bigint[], f.parts, f.texts
        from (select array_agg(u.part order by u.n) as parts,
                     array_agg(case when u.part > 0 then u.text::jsonb::text else u.text end order by u.n) as texts
                from unnest(${parts}::smallint[], ${texts}::text[]) with ordinality as u (part, text, n)) f
       where f.parts is not null and exists (select 1 from me)
      on conflict do nothing
    ), along as materialized (
      select store_along(${rows}::text::jsonb) from me where ${rows}::text is not null
    )
    select exists (select 1 from me) as held, exists (select 1 from intents where instance_id = ${id}) as asked
     where (select count(*) from along) >= 0 -- has it run`
  return row ?? { held: false, asked: false }
}
