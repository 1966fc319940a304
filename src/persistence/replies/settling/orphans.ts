/** Replies that stream under an instance: those without an actor there are orphans. */
import type { OfferReason, OwnedRow } from '../../../actors/ports/index.ts'
import type { Sql } from '../../postgres/database.ts'
import type { Owner } from '../admission/admission-answer.ts'
import { type InfoRow, infoOf } from '../reading/read-reply.ts'

/** Reads the replies that stream under an instance. `withinS`: CONTINUE_WITHIN_S. */
export async function streamingReplies(sql: Sql, { id, epoch }: Owner, withinS: number): Promise<OwnedRow[]> {
  const rows = await sql<(InfoRow & { offered: OfferReason | null })[]>`
    select id, session_id, session_num, first_seq, model, created_at, include_usage, instance_id, epoch,
           (select h.reason from handovers h where h.reply_id = m.id) as offered
      from messages m where status = 'streaming' and instance_id = ${id} and epoch = ${epoch}
       -- A queued message that has begun waits to be taken (tend_queues).
       and not exists (select from queued_messages q where q.reply_id = m.id and not q.taken)
       -- One that is offered waits to be taken over: at a boundary that of any agent. An offer that nobody may take any more ends it.
       and not exists (select from handovers h
                        where h.reply_id = m.id
                          and (h.reason = 'boundary' and h.at > clock_timestamp() - make_interval(secs => ${withinS})
                               or may_go_on(m.id, ${withinS})))`
  return rows.map(({ offered, ...row }) => ({ ...infoOf(row), offered }))
}
