/** Replies that go on in another instance: what they need is stored, offered, claimed. */
import type { ReplyInfo } from '../../../actors/ports/index.ts'
import { retry } from '../../../async/retry.ts'
import { isUnavailable, type Sql } from '../../../persistence/postgres/database.ts'
import { gathered } from '../../../persistence/postgres/gathered.ts'
import { readReplies } from '../../../persistence/replies/reading/read-reply.ts'
import { decodeCarried } from '../../../persistence/replies/stored/stored-carried.ts'
import { decodeFacts } from '../../../persistence/replies/stored/stored-columns.ts'
import type { Claimed, Handovers } from '../handovers.ts'
import { type ClaimAnswer, decodeClaim } from './claim-answer.ts'
import { decodeStart, decodeTurn, encodeTurn } from './stored-turn.ts'

export interface HandoverOptions {
  sql: Sql
  instance: { readonly id: string; epoch(): number }
  /** CONTINUE_WITHIN_S. */
  withinS: number
  /** A question that decides who owns a reply is asked for so long (milliseconds). */
  waitMs: number
}

export function createHandovers({ sql, instance, withinS, waitMs }: HandoverOptions): Handovers {
  const again = <T>(ask: () => Promise<T>, withinMs = waitMs) =>
    retry(ask, { firstMs: 20, longestMs: 500, withinMs, mayPass: isUnavailable })

  const isOwn = async ({ id, epoch }: ReplyInfo): Promise<boolean> => {
    const rows = await sql`
      select 1 from messages
       where id = ${id} and status = 'streaming' and instance_id = ${instance.id} and epoch = ${epoch}`
    return rows.length > 0
  }

  const areOwn = gathered(async (ids) => {
    const rows = await sql<{ id: string }[]>`
      select id from messages
       where id = any(${ids}::text[]::uuid[]) and status = 'streaming'
         and instance_id = ${instance.id} and epoch = ${instance.epoch()}`
    return new Map(rows.map(({ id }) => [id, true]))
  })

  return {
    async keepTurn({ id, epoch }, n, turn, start) {
      const body = encodeTurn(turn, start)
      const store = async () => {
        // Conflict: the same turn again, where the one before never got to its calls. Locked, so that a settlement that goes
        // on meanwhile ends before or behind it: it removes the turns.
        const stored = await sql`
          insert into reply_turns (reply_id, n, body)
          select m.id, ${n}, ${body} from messages m
           where m.id = ${id} and m.status = 'streaming' and m.instance_id = ${instance.id} and m.epoch = ${epoch}
             and (select true from instances where id = ${instance.id} and epoch = ${epoch} for key share)
             for share of m
          on conflict (reply_id, n) do update set body = excluded.body
          returning 1`
        return stored.length > 0
      }
      // Away for so long, nothing of the reply can be stored any more.
      return await again(store).catch((error: unknown) => {
        if (isUnavailable(error)) return false
        throw error
      })
    },

    async offer(reply, reason) {
      const { id, epoch } = reply
      // What could not be stored for so long waits until the database is back, as a settlement does.
      const withinMs = reason === 'database' ? Number.POSITIVE_INFINITY : waitMs
      return await again(async () => {
        // Locked, as in keepTurn: an earlier try of it may have arrived, and what it offered is being taken or settled.
        const rows = await sql`
          insert into handovers (reply_id, instance_id, epoch, reason)
          select m.id, m.instance_id, m.epoch, ${reason} from messages m
           where m.id = ${id} and m.status = 'streaming' and m.instance_id = ${instance.id} and m.epoch = ${epoch}
             and (select true from instances where id = ${instance.id} and epoch = ${epoch} for key share)
             and case when ${reason} = 'boundary'
                      then exists (select 1 from instances where adopts and lost_at is null and id <> ${instance.id})
                      else may_go_on(m.id, null) end
             for share of m
          on conflict (reply_id) do update set reason = excluded.reason
          returning 1`
        if (rows.length > 0) return 'offered'
        return (await isOwn(reply)) ? 'refused' : 'gone'
      }, withinMs)
    },

    async takeBack(reply) {
      return await again(async () => {
        const rows = await sql`
          delete from handovers where reply_id = ${reply.id} and instance_id = ${instance.id} and epoch = ${reply.epoch}
          returning 1`
        // One that is not there was taken, or is back already: an answer was lost. A statement of its own sees which.
        return rows.length > 0 || (await isOwn(reply))
      })
    },

    async mayGoOn(replyIds) {
      const rows = await sql<{ id: string }[]>`
        select r.id from unnest(${[...replyIds]}::text[]::uuid[]) as r (id) where may_go_on(r.id, ${withinS})`
      return new Set(rows.map(({ id }) => id))
    },

    isOwn: async (replyId) => (await areOwn(replyId)) !== null,

    async left(lost, most) {
      // An offer whose statement arrived late may have met a reply that was taken back and has ended since.
      if (lost) await sql`delete from handovers h using messages m where m.id = h.reply_id and m.status <> 'streaming'`
      const rows = await sql<{ id: string }[]>`
        select h.reply_id as id from handovers h join messages m on m.id = h.reply_id
         where m.status = 'streaming'
           -- Its own only where nobody else takes them: what it could not store while the database was away.
           and (m.instance_id <> ${instance.id} or h.reason = 'database' and not exists (
             select 1 from instances where adopts and lost_at is null and id <> ${instance.id}))
           and (h.reason = 'boundary' and h.at > clock_timestamp() - make_interval(secs => ${withinS})
                or may_go_on(h.reply_id, ${withinS}))
         limit ${most}`
      if (!lost || rows.length > 0) return rows.map(({ id }) => id)
      // The order is random, so that the replies of one lost instance spread over all others. settleLost ends those of
      // `error` agents.
      const ofLost = await sql<{ id: string }[]>`
        select m.id from messages m join sessions s on s.id = m.session_id join agents a on a.id = s.agent_id
         where m.status = 'streaming' and a.on_loss = 'continue'
           and not exists (select 1 from instances i where i.id = m.instance_id and i.epoch = m.epoch)
         order by random() limit ${most}`
      return ofLost.map(({ id }) => id)
    },

    claim: claiming({ sql, instance, withinS }, (ask) => again(ask, Number.POSITIVE_INFINITY)),

    async setReady(isReady) {
      await sql`update instances set adopts = ${isReady} where id = ${instance.id} and epoch = ${instance.epoch()}`
    },
  }
}

type Patiently = <T>(ask: () => Promise<T>) => Promise<T>

/**
 * Claims that go together: ten on ten connections planned everything ten times, a third of a second after a start. Without an answer
 * nobody would go on with what is this instance's by then, so it is asked for until there is one. They go by the numbers of
 * their sessions, as move_frames does, which stores frames of the same replies meanwhile: else both would deadlock.
 */
function claiming(
  { sql, instance, withinS }: Omit<HandoverOptions, 'waitMs'>,
  patiently: Patiently,
): Handovers['claim'] {
  const claimAll = async (ids: string[]) => {
    const rows = await patiently(
      () => sql<{ id: string; answer: unknown }[]>`
        select r.id, claim_reply(${instance.id}, ${instance.epoch()}, r.id, ${withinS}) as answer
          from (select m.id from messages m where m.id = any(${ids}::text[]::uuid[]) order by m.session_num) r`,
    )
    return new Map(rows.map(({ id, answer }) => [id, answer]))
  }
  const claims = gathered(claimAll)
  const claimedReplies = gathered((ids) => patiently(() => readReplies(sql, ids)))
  return async (replyId) => {
    // After a failure each goes alone: another claim may have caused it.
    const claimed = await claims(replyId).catch(async () => (await claimAll([replyId])).get(replyId) ?? null)
    if (claimed === null) return null
    const answer = decodeClaim(claimed)
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
