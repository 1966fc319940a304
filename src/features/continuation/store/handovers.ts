/** Replies that go on in another instance: what they need is stored, offered, claimed. */
import { retry } from '../../../async/retry.ts'
import { isUnavailable, type Sql } from '../../../persistence/postgres/database.ts'
import { gathered } from '../../../persistence/postgres/gathered.ts'
import type { Handovers } from '../handovers.ts'
import { type ClaimOptions, createClaims } from './claims.ts'
import { encodeTurn } from './stored-turn.ts'

export interface HandoverOptions extends ClaimOptions {
  /** A question that decides who owns a reply is asked for so long (milliseconds). */
  waitMs: number
}

export function createHandovers(options: HandoverOptions): Handovers {
  const { sql, instance, withinS, waitMs } = options
  const again = <T>(ask: () => Promise<T>, withinMs = waitMs) =>
    retry(ask, { firstMs: 20, longestMs: 500, withinMs, mayPass: isUnavailable })
  /** The number of the newest offer or stored turn of this instance. */
  let newest = 0

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
      newest += 1
      const number = newest
      const store = async () => {
        // Conflict: the same turn again, where the one before never got to its calls. Locked, so that a settlement that goes
        // on meanwhile ends before or behind it: it removes the turns.
        const stored = await sql`
          insert into reply_turns (reply_id, n, body)
          select m.id, ${n}, ${body} from messages m
           where m.id = ${id} and m.status = 'streaming' and m.instance_id = ${instance.id} and m.epoch = ${epoch}
             and (select true from instances where id = ${instance.id} and epoch = ${epoch} for key share)
             -- It arrives late: the reply was given away since.
             and not exists (select from ended_offers e where e.reply_id = m.id and e.instance_id = m.instance_id
                                                         and e.epoch = m.epoch and e.number > ${number})
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

    async offer({ id, epoch }, reason) {
      newest += 1
      const number = newest
      // What could not be stored for so long waits until the database is back, as a settlement does.
      const withinMs = reason === 'database' ? Number.POSITIVE_INFINITY : waitMs
      return await again(async () => {
        const [row] = await sql<{ answer: 'offered' | 'refused' | 'gone' }[]>`
          select offer_reply(${instance.id}, ${epoch}, ${id}, ${reason}, ${number}) as answer`
        return row?.answer ?? 'gone'
      }, withinMs)
    },

    async takeBack({ id, epoch }) {
      const number = newest
      return await again(async () => {
        const [row] = await sql<{ isOwn: boolean }[]>`
          select take_back_reply(${instance.id}, ${epoch}, ${id}, ${number}) as "isOwn"`
        return row?.isOwn === true
      })
    },

    async mayGoOn(replyIds) {
      const rows = await again(
        () => sql<{ id: string }[]>`
          select r.id from unnest(${[...replyIds]}::text[]::uuid[]) as r (id) where may_go_on(r.id, ${withinS})`,
      )
      return new Set(rows.map(({ id }) => id))
    },

    isOwn: async (replyId) => (await areOwn(replyId)) !== null,

    async left(lost, most) {
      if (lost) await forgetEnded(sql)
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

    claim: createClaims(options, (ask) => again(ask, Number.POSITIVE_INFINITY)),

    async setReady(isReady) {
      await sql`update instances set adopts = ${isReady} where id = ${instance.id} and epoch = ${instance.epoch()}`
    },
  }
}

/** Forgets the offers of replies that have ended. (Versions that do not number theirs may offer one that has.) */
async function forgetEnded(sql: Sql): Promise<void> {
  await sql`delete from handovers h using messages m where m.id = h.reply_id and m.status <> 'streaming'`
  await sql`delete from ended_offers e using messages m where m.id = e.reply_id and m.status <> 'streaming'`
}
