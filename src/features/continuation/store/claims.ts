/** Claims of replies that others have left, as they are stored. */
import type { ReplyInfo, StoredReply } from '../../../actors/ports/index.ts'
import { changedNothing, isCanceled, type Sql } from '../../../persistence/postgres/database.ts'
import { gathered } from '../../../persistence/postgres/gathered.ts'
import { type ReplyRow, storedOf } from '../../../persistence/replies/reading/read-reply.ts'
import { framesOf } from '../../../persistence/replies/settling/stored-reply.ts'
import { decodeFacts } from '../../../persistence/replies/stored/stored-columns.ts'
import { decodeCarried } from '../../../persistence/stored-forms/stored-carried.ts'
import type { Claimed, Handovers } from '../handovers.ts'
import { type ClaimAnswer, decodeClaim } from './claim-answer.ts'
import { decodeStart, decodeTurn } from './stored-turn.ts'

export interface ClaimOptions {
  sql: Sql
  /** A pool whose statements have no time limit: taking a long reply over may take longer than the role's. */
  untimedSql: Sql
  instance: { readonly id: string; epoch(): number }
  /** CONTINUE_WITHIN_S. */
  withinS: number
}

/** A way to ask for as long as there is no answer. */
export type Patiently = <T>(ask: () => Promise<T>) => Promise<T>

/** A reply that is to be claimed: whose it is, and the number of its offer. */
interface Left {
  id: string
  from: string
  epoch: number
  offer: number | null
}

/** The answer to a claim. `isSure`: no earlier try of it can take the reply any more. */
interface Answered {
  answer: unknown
  isSure: boolean
}

/**
 * Claims that go together: ten on ten connections planned everything ten times, a third of a second after a start.
 * Without an answer nobody would go on with what is this instance's by then, so it is asked for until there is one.
 * They go by the numbers of their sessions, as move_frames does, which stores frames of the same replies meanwhile:
 * else both would deadlock.
 */
export function createClaims(
  { sql, untimedSql, instance, withinS }: ClaimOptions,
  patiently: Patiently,
): Handovers['claim'] {
  async function claimOnce(left: readonly Left[]): Promise<Map<string, unknown>> {
    const rows = await untimedSql<{ id: string; answer: unknown }[]>`
      select r.id, take_over_reply(${instance.id}, ${instance.epoch()}, r.id, ${withinS}, r.owner, r.epoch, r.offer) as answer
        from (select *
                from unnest(${left.map(({ id }) => id)}::text[]::uuid[], ${left.map(({ from }) => from)}::text[]::uuid[],
                            ${left.map(({ epoch }) => epoch)}::bigint[], ${left.map(({ offer }) => offer)}::bigint[])
                       with ordinality as x (id, owner, epoch, offer, n)
               order by x.n) r`
    return new Map(rows.map(({ id, answer }) => [id, answer]))
  }

  /** Claims replies; by halves what the role's statement_timeout ends, which holds behind a pooler all the same. */
  async function claimSeen(left: readonly Left[], wasSure: boolean): Promise<Map<string, Answered>> {
    let isSure = wasSure
    const answers = await patiently(() =>
      claimOnce(left).catch((error: unknown) => {
        isSure &&= changedNothing(error)
        if (isCanceled(error)) return null
        throw error
      }),
    )
    if (answers !== null) return new Map([...answers].map(([id, answer]) => [id, { answer, isSure }]))
    const half = left.length >> 1
    if (half === 0) throw new Error('Taking the reply over takes longer than statement_timeout allows.')
    const first = await claimSeen(left.slice(0, half), isSure)
    return new Map([...first, ...(await claimSeen(left.slice(half), isSure))])
  }

  const claimAll = async (ids: string[]) => {
    const left = await patiently(
      () => sql<Left[]>`
        select m.id, m.instance_id as "from", m.epoch, h.number as offer
          from messages m
          left join handovers h on h.reply_id = m.id and h.instance_id = m.instance_id and h.epoch = m.epoch
         where m.id = any(${ids}::text[]::uuid[]) and m.status = 'streaming'
         order by m.session_num`,
    )
    return left.length === 0 ? new Map<string, Answered>() : await claimSeen(left, true)
  }
  const claims = gathered(claimAll)
  const claimedReplies = gathered((ids) => patiently(() => readReplies(sql, ids)))
  return async (replyId) => {
    // After a failure each goes alone: another claim may have caused it.
    const claimed = await claims(replyId).catch(async () => (await claimAll([replyId])).get(replyId) ?? null)
    if (claimed === null) return null
    if (claimed.answer === null) {
      if (claimed.isSure) return null
      throw new Error('A try without an answer may take it still.')
    }
    const answer = decodeClaim(claimed.answer)
    const stored = await claimedReplies(replyId)
    // Another instance may own it by now: if this one was paused before this read, it may have been declared lost meanwhile.
    return stored?.info.instanceId === instance.id ? claimedOf(answer, stored) : null
  }
}

function claimedOf(answer: ClaimAnswer, { info, events }: { info: ReplyInfo; events: Claimed['events'] }): Claimed {
  const rows = answer.turn_rows ?? []
  const turns = rows.filter(({ n }) => n > 0).map(({ body }) => decodeTurn(body))
  const before = rows.find(({ n }) => n === 0)
  const { start, counts, providerId = null } = decodeFacts(answer.facts) ?? {}
  return {
    reply: info,
    events,
    hasParent: answer.is_child === true,
    reason: answer.reason,
    from: answer.from,
    cancelled: answer.cancelled,
    elapsedMs: answer.elapsed_ms,
    noted: {
      firstTokenMs: answer.first_token_ms,
      attempts: answer.attempts,
      turns: answer.turns,
      tools: answer.tools,
    },
    agentId: answer.agent_id,
    providerId,
    ...(counts && { counts }),
    answeredId: answer.answered_id,
    hasParts: answer.has_parts,
    text: answer.text ?? '',
    historyEnd: answer.history_end ?? -1,
    titleFrom: answer.untitled ? (answer.first_text ?? '') : null,
    values: answer.values,
    start: start === undefined ? (turns[0]?.start ?? null) : decodeStart(start),
    turns: turns.map(({ turn }) => turn),
    continued: before
      ? { carried: decodeCarried(before.body), decisions: answer.decisions ?? [], by: answer.decided_by }
      : null,
  }
}

/** Reads running replies from their beginning, by their ids. */
async function readReplies(sql: Sql, replyIds: readonly string[]): Promise<Map<string, StoredReply>> {
  const rows = await sql<ReplyRow[]>`
    select m.*, ${framesOf(sql)}, null::integer as read_to
      from messages m where m.id = any(${[...replyIds]}::text[]::uuid[]) and m.status = 'streaming'`
  return new Map(rows.map((row) => [row.id, storedOf(row, 0, 0)]))
}
