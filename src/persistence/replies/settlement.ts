/** Settles a reply: folds it into its message, with its outcome. */
import type { Journal, ReplyInfo, Settlement } from '../../actors/ports.ts'
import type { Sql } from '../postgres/database.ts'
import { outcomeColumns } from './stored-outcome.ts'
import { fold, jsonText, reasoningColumns } from './stored-reply.ts'

export type Settled = Awaited<ReturnType<Journal['settle']>>

/** What sql/settle_reply.sql returns. */
type Answer = { outcome: 'settled'; settled_at: string } | { outcome: 'fenced' | 'gone' }

/** One statement, idempotent: the first outcome stays. `nextSeq`: the session's next reply begins at this id or behind. */
export async function settle(
  sql: Sql,
  instanceId: string,
  reply: ReplyInfo,
  settlement: Settlement,
  nextSeq?: number,
): Promise<Settled> {
  const folded = settlement.events && fold(settlement.events)
  const reasoning = reasoningColumns(folded?.reasoning ?? null)
  const outcome = jsonText({ ...outcomeColumns(settlement), ...reasoning, next_seq: nextSeq })
  const events = folded && folded.others.length > 0 ? jsonText(folded.others) : null
  const [row] = await sql<{ answer: Answer }[]>`
    select settle_reply(${instanceId}, ${reply.epoch}, ${reply.id}, ${outcome}::text::jsonb, ${folded?.content ?? null},
                        ${folded?.frameEnds ?? null}::integer[], ${events}::text::jsonb) as answer`
  if (row === undefined) throw new Error('settle_reply returned no row')
  const { answer } = row
  if (answer.outcome !== 'settled') return { result: answer.outcome }
  return { result: 'settled', settledAt: new Date(answer.settled_at).toISOString() }
}
