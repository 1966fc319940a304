/** Replies whose owner was declared lost: they are settled with what is stored of them. Idempotent and fenced. */
import type { LostReply } from '../../../actors/ports/index.ts'
import { isCanceled, type Sql } from '../../postgres/database.ts'

export interface SettleLostOptions {
  /** The instance that settles. */
  instanceId: string
  /**
   * The time within which another instance may go on with a reply, which is left alone until then: CONTINUE_WITHIN_S.
   */
  withinS: number
  /** Derives a title from a session's first message. Null when none can be derived. */
  deriveTitle(text: string): string | null
  /**
   * Tells that there are lost replies, and that what their owners had stored of late is moved: those that go on can be
   * taken over.
   */
  onLost?(): void
  /** Tells of a reply that cannot be settled; the others are. It is tried again with the next call. */
  onFault(fault: { replyId: string; detail: string }): void
  /**
   * Tells that what an owner had stored of late could not be moved: its replies are settled from there, which takes
   * longer.
   */
  onUnmoved(error: unknown): void
}

/**
 * Replies that are settled in one transaction: below PostgreSQL's 64 subtransactions that cost nothing, and so short that
 * the instances which share the work always find a part that is free.
 */
const CHUNK = 50

interface Ended {
  reply_id: string
  session_id: string
  question: string | null
  fault: string | null
}

/**
 * Ends the replies whose owner no longer holds the epoch they were admitted under. Resolves to those that it ended: where a
 * statement fails, to those that were ended before it, if there are any.
 */
export async function settleLost(sql: Sql, options: SettleLostOptions): Promise<LostReply[]> {
  const replies = await sql<(LostReply & { epoch: number })[]>`
    select m.epoch, m.id as "replyId", m.session_id as "sessionId", s.agent_id as "agentId", a.provider_id as "providerId",
           m.model, m.instance_id as "instanceId", (select h.reason from handovers h where h.reply_id = m.id) as offered,
           (extract(epoch from clock_timestamp() - m.created_at) * 1000)::float8 as ms
      from messages m left join sessions s on s.id = m.session_id left join agents a on a.id = s.agent_id
     where m.status = 'streaming'
       and not exists (select 1 from instances i where i.id = m.instance_id and i.epoch = m.epoch)
     order by m.id`
  if (replies.length === 0) return []
  // What each said is looked for by its session from here on, no longer in all that its owner has stored of late.
  const owners = new Map(replies.map(({ instanceId, epoch }) => [`${instanceId} ${epoch}`, { instanceId, epoch }]))
  for (const { instanceId, epoch } of owners.values()) {
    await sql`select move_frames(${instanceId}, ${epoch}, ${Number.MAX_SAFE_INTEGER})`.catch(options.onUnmoved)
  }
  // After they were moved: the age of a reply's newest frame is known then.
  options.onLost?.()
  const going = await goingOn(sql, replies, options.withinS)
  const ended = replies.filter(({ replyId }) => !going.has(replyId))
  return await settleAll(sql, ended, options)
}

/** Returns those that another instance takes over: of any agent what its owner had offered at a boundary. */
async function goingOn(sql: Sql, replies: readonly LostReply[], withinS: number): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select m.id
      from messages m join sessions s on s.id = m.session_id join agents a on a.id = s.agent_id
     where m.id = any(${replies.map(({ replyId }) => replyId)}::text[]::uuid[])
       and (a.on_loss = 'continue' and may_go_on(m.id, ${withinS})
            or exists (select 1 from handovers h
                        where h.reply_id = m.id and h.instance_id = m.instance_id and h.epoch = m.epoch and h.reason = 'boundary'
                          and h.at > clock_timestamp() - make_interval(secs => ${withinS})))`
  return new Set(rows.map(({ id }) => id))
}

async function settleAll(
  sql: Sql,
  replies: readonly (LostReply & { epoch: number })[],
  options: SettleLostOptions,
): Promise<LostReply[]> {
  const lost: LostReply[] = []
  let size = CHUNK
  for (let at = 0; at < replies.length; ) {
    const chunk = replies.slice(at, at + size)
    try {
      const ended = await settleChunk(sql, chunk, options)
      lost.push(...chunk.filter(({ replyId }) => ended.has(replyId)).map(({ epoch: _, ...reply }) => reply))
      at += chunk.length
    } catch (error) {
      // Behind a pooler the role's statement_timeout holds for single statements.
      if (isCanceled(error) && size > 1) size = Math.ceil(size / 4)
      // The replies that were ended before are told of all the same. If the failure lasts, the next call meets it at once.
      else if (lost.length > 0) break
      else throw error
    }
  }
  return lost
}

/** Resolves to the ids of those that it ended. */
async function settleChunk(
  sql: Sql,
  chunk: readonly LostReply[],
  { instanceId, deriveTitle, onFault }: SettleLostOptions,
): Promise<Set<string>> {
  const rows = await sql<Ended[]>`
    select reply_id, session_id, question, fault
      from lose_replies(${chunk.map(({ replyId }) => replyId)}::text[]::uuid[], ${instanceId})`
  for (const { reply_id, fault } of rows) if (fault !== null) onFault({ replyId: reply_id, detail: fault })
  const ended = rows.filter(({ fault }) => fault === null)
  const titled = ended.flatMap(({ session_id: id, question }) => {
    const title = question === null ? null : deriveTitle(question)
    return title === null ? [] : [{ id, title }]
  })
  if (titled.length > 0) {
    await sql`
      update sessions s set title = t.title
        from unnest(${titled.map(({ id }) => id)}::text[]::uuid[], ${titled.map(({ title }) => title)}::text[]) as t (id, title)
       where s.id = t.id and s.title is null`
  }
  return new Set(ended.map(({ reply_id }) => reply_id))
}
