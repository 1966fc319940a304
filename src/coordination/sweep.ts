/** Owners that fell silent: they are declared lost, and what they left streaming is settled. Idempotent and fenced. */
import type { Sql } from 'postgres'

export interface Sweep {
  sql: Sql<Record<string, unknown>>
  /** The instance that sweeps. */
  id: string
  /** A title for a session whose first reply was lost. Null: none can be derived. */
  deriveTitle(text: string): string | null
  /** This instance has declared others lost. Absent: nobody counts. */
  onInstancesLost?: ((count: number) => void) | undefined
  /** This instance has settled replies that were lost. Absent: nobody counts. */
  onRepliesLost?: ((count: number) => void) | undefined
  log: { warn(details: object, message: string): void; info(details: object, message: string): void }
}

/** Raises the epoch of instances whose lease has passed, or of `everyone` but this one. */
export async function declareLost({ sql, id, log, onInstancesLost }: Sweep, everyone: boolean): Promise<void> {
  const lost = await sql<{ id: string }[]>`
    update instances set epoch = epoch + 1, lost_at = clock_timestamp()
     where id <> ${id} and lost_at is null and (${everyone} or lease_until < clock_timestamp())
    returning id`
  if (lost.length > 0) {
    onInstancesLost?.(lost.length)
    log.warn({ instances: lost.map((instance) => instance.id) }, 'Declared instances lost.')
  }
  await sql`
    delete from instances i where i.lost_at < clock_timestamp() - interval '1 day'
       and not exists (select 1 from messages m where m.instance_id = i.id and m.status = 'streaming')`
}

/** Ends the replies whose owner no longer holds the epoch they were admitted under. */
export async function settleLost(sweep: Sweep): Promise<void> {
  const { sql, id, log } = sweep
  const replies = await sql<LostReply[]>`
    select m.id as "replyId", m.session_id as "sessionId", s.agent_id as "agentId", a.provider_id as "providerId",
           m.model, m.instance_id as "instanceId",
           (extract(epoch from clock_timestamp() - m.created_at) * 1000)::float8 as ms
      from messages m left join sessions s on s.id = m.session_id left join agents a on a.id = s.agent_id
     where m.status = 'streaming'
       and not exists (select 1 from instances i where i.id = m.instance_id and i.epoch = m.epoch)`
  for (const reply of replies) {
    const [row] = await sql<{ session: string | null }[]>`select lose_reply(${reply.replyId}, ${id}) as session`
    if (!row?.session) continue // another instance was quicker, or the session is gone
    sweep.onRepliesLost?.(1)
    log.warn(lineOf(reply), 'A reply failed.')
    await giveTitle(sweep, row.session)
  }
  if (replies.length > 0) log.info({ replies: replies.length }, 'Settled replies of lost instances.')
}

/** What rows know of a reply; its request and its calls to the provider are gone with its owner. */
interface LostReply {
  replyId: string
  sessionId: string
  agentId: string | null
  providerId: string | null
  model: string | null
  /** The owner. */
  instanceId: string
  /** Since its admission. */
  ms: number
}

/** As the line of every other failed reply (contract section 17). */
const lineOf = ({ ms, ...ids }: LostReply) => ({
  reqId: null,
  ...ids,
  code: 'instance_lost',
  detail: 'The instance that generated this reply was lost.',
  attempts: null,
  ms: Math.round(ms),
})

async function giveTitle({ sql, deriveTitle }: Sweep, sessionId: string): Promise<void> {
  const [first] = await sql<{ content: string }[]>`
    select content from messages where session_id = ${sessionId} and role = 'user' order by position limit 1`
  const title = first ? deriveTitle(first.content) : null
  if (title) await sql`update sessions set title = ${title} where id = ${sessionId} and title is null`
}
