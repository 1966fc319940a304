/** Settles replies: folds each into its message, with its outcome. */
import type { ReplyInfo, Settled, Settlement } from '../../../actors/ports/index.ts'
import { isBadData, type Sql } from '../../postgres/database.ts'
import type { GroupItem } from '../../postgres/group-commit.ts'
import type { SettlementContributions } from '../contributions.ts'
import { outcomeColumns } from './stored-outcome.ts'
import { fold, jsonText, reasoningColumns } from './stored-reply.ts'

/** The answer of settle_reply.sql. */
type Answer = { outcome: 'settled'; settled_at: string; next: string | null } | { outcome: 'fenced' | 'gone' }

export interface SettleOptions {
  sql: Sql
  /** The instance that settles. */
  instanceId: string
  contributions: SettlementContributions
}

/**
 * Settles one reply by one statement, idempotent: the first outcome stays. `nextSeq`: the session's next reply begins
 * at this id or behind. Steps that cannot be stored do not keep the reply from its end.
 */
export async function settle(
  options: SettleOptions,
  reply: ReplyInfo,
  settlement: Settlement,
  nextSeq?: number,
): Promise<Settled> {
  try {
    return await settleOnce(options, reply, settlement, nextSeq)
  } catch (error) {
    const { steps, ...others } = settlement
    if (steps === undefined || !isBadData(error)) throw error
    const settled = await settleOnce(options, reply, others, nextSeq)
    return settled.result === 'settled' ? { ...settled, leftSteps: true } : settled
  }
}

async function settleOnce(
  { sql, instanceId, contributions }: SettleOptions,
  reply: ReplyInfo,
  settlement: Settlement,
  nextSeq: number | undefined,
): Promise<Settled> {
  const folded = settlement.events && fold(settlement.events)
  const reasoning = reasoningColumns(folded?.reasoning ?? null)
  const outcome = jsonText({ ...outcomeColumns(settlement, contributions), ...reasoning, next_seq: nextSeq })
  const events = folded && folded.others.length > 0 ? jsonText(folded.others) : null
  const [row] = await sql<{ answer: Answer }[]>`
    select settle_reply(${instanceId}, ${reply.epoch}, ${reply.id}, ${outcome}::text::jsonb, ${folded?.content ?? null},
                        ${folded?.frameEnds ?? null}::integer[], ${events}::text::jsonb) as answer`
  if (row === undefined) throw new Error('settle_reply returned no row')
  const { answer } = row
  if (answer.outcome !== 'settled') return { result: answer.outcome }
  return { result: 'settled', settledAt: new Date(answer.settled_at).toISOString(), next: answer.next }
}

/** Returns the argument of settle_replies.sql for a reply whose events are known, else null. */
export function settlementRow(
  { contributions }: Pick<SettleOptions, 'contributions'>,
  reply: ReplyInfo,
  settlement: Settlement,
  nextSeq?: number,
): string | null {
  if (settlement.events === null) return null
  const { content, frameEnds, others, reasoning } = fold(settlement.events)
  return jsonText({
    id: reply.id,
    session_id: reply.sessionId,
    content,
    frame_ends: arrayText(frameEnds),
    next_seq: nextSeq,
    ...(others.length > 0 && { tool_events: others }),
    ...outcomeColumns(settlement, contributions),
    ...(reasoning && {
      reasoning: reasoning.text,
      reasoning_frames: arrayText(reasoning.frames),
      reasoning_ends: arrayText(reasoning.ends),
    }),
  })
}

/** Returns an array in PostgreSQL's own form, which is read ten times as fast as an array in JSON. */
const arrayText = (numbers: readonly number[]): string => `{${numbers.join()}}`

export interface GroupedSettlement extends GroupItem {
  reply: ReplyInfo
  settlement: Settlement
}

/**
 * Settles replies of one epoch whose rows are not locked, in one statement. Null when `settle` has to say what became
 * of one.
 */
export async function settleTogether(
  sql: Sql,
  instanceId: string,
  items: readonly GroupedSettlement[],
): Promise<(Settled | null)[]> {
  const epoch = items[0]?.reply.epoch ?? 0
  const rows = items.filter(({ reply }) => reply.epoch === epoch).map(({ row }) => row)
  const settled = await sql<{ id: string; settledAt: Date }[]>`
    select id, settled_at as "settledAt" from settle_replies(${instanceId}, ${epoch}, ${`[${rows.join()}]`}::text::jsonb)`
  const byId = new Map(settled.map(({ id, settledAt }) => [id, settledAt]))
  return items.map(({ reply }) => {
    const settledAt = byId.get(reply.id)
    return settledAt ? { result: 'settled', settledAt: settledAt.toISOString(), next: null } : null
  })
}
