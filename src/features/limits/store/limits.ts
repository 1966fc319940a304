/** Limits as they are judged for stateless requests, and the use that they are compared with (contract section 23). */
import type { LimitsInForce, OverLimit, RequestRate } from '../../../actors/ports/limits.ts'
import { type AnySql, changedNothing, type Sql } from '../../../persistence/postgres/database.ts'
import type { Owner } from '../../../persistence/replies/admission/admission-answer.ts'
import { jsonText } from '../../../persistence/replies/settling/stored-reply.ts'

/** Returns the columns of an admission under limits. */
export const admittedLimits = (limits: LimitsInForce) => ({ limits })

/** A stateless request. */
export interface LimitedRequest {
  replyId: string
  agentId: string
  /** Null when it is no user's. */
  user: string | null
  limits: LimitsInForce
  /** Only asks: pictures are still to be fetched. */
  isLook?: boolean
}

/** `over`: what refuses the request, which counts nothing then. */
export interface LimitVerdict {
  over?: OverLimit
  rate?: RequestRate
}

export interface LimitGate {
  /** Counts the request, and takes its places. Null when this instance was declared lost. Rejects while the database is away. */
  take(request: LimitedRequest): Promise<LimitVerdict | null>
  /** Gives back the places of requests that were taken late: the call had no answer, and the request was refused. */
  giveBackLate(): Promise<void>
  /** Takes back that a request was counted. It has taken no place. */
  giveBack(request: LimitedRequest): Promise<void>
}

const MOST_REQUESTS = 64

interface Waiting {
  request: LimitedRequest
  resolve(verdict: LimitVerdict | null): void
  reject(error: unknown): void
}

/**
 * Collects requests that come while a statement is under way, and sends them with the next. Requests of one key wait
 * for each other in the database, and would hold all connections meanwhile.
 */
export function createLimitGate(sql: Sql, instance: { id: string; epoch(): number }): LimitGate {
  let waiting: Waiting[] = []
  let isAsking = false
  /** Requests whose call had no answer, with its epoch: it may be carried out yet, as long as that is there. */
  const unanswered = new Map<string, number>()

  async function askAll(): Promise<void> {
    isAsking = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MOST_REQUESTS)
      waiting = waiting.slice(MOST_REQUESTS)
      const epoch = instance.epoch()
      try {
        const verdicts = await ask(sql, { id: instance.id, epoch }, batch)
        for (const [n, { resolve }] of batch.entries()) resolve(verdicts?.[n] ?? null)
      } catch (error) {
        for (const { request, reject } of batch) {
          if (!(request.isLook || changedNothing(error))) unanswered.set(request.replyId, epoch)
          reject(error)
        }
      }
    }
    isAsking = false
  }

  return {
    take: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ request, resolve, reject })
        if (!isAsking) void askAll()
      }),
    async giveBackLate() {
      for (const [replyId, epoch] of unanswered) if (epoch !== instance.epoch()) unanswered.delete(replyId)
      if (unanswered.size === 0) return
      await sql`
        delete from limit_places
         where reply_id = any(${[...unanswered.keys()]}::text[]::uuid[]) and instance_id = ${instance.id}`
    },
    async giveBack({ agentId, user, limits }) {
      await sql`select uncount_request(${jsonText(limits)}::text::jsonb, ${agentId}, ${user}, clock_timestamp())`
    },
  }
}

async function ask(sql: Sql, { id, epoch }: Owner, batch: readonly Waiting[]): Promise<LimitVerdict[] | null> {
  const requests = batch.map(({ request: { replyId, agentId, user, limits, isLook } }) => ({
    reply: replyId,
    agent: agentId,
    user,
    limits,
    look: isLook === true,
  }))
  const [row] = await sql<{ answers: LimitVerdict[] | null }[]>`
    select take_limits(${id}, ${epoch}, ${jsonText(requests)}::text::jsonb) as answers`
  return row?.answers ?? null
}

const SUBJECTS_AT_ONCE = 500

/** Removes counts that no limit needs any more. Any instance may run it. */
export async function tidyLimits(sql: AnySql): Promise<void> {
  await sql`
    insert into limit_subjects (subject) select distinct subject from limit_usage where not folded on conflict do nothing`
  for (let after: string | null = ''; after !== null; ) {
    const [row]: { last: string | null }[] = await sql<{ last: string | null }[]>`
      select tidy_limit_range(${after}, ${SUBJECTS_AT_ONCE}) as last`
    after = row?.last ?? null
  }
  await sql`
    delete from limit_usage
     where folded and day < date_trunc('month', clock_timestamp() at time zone 'UTC') - interval '1 month'`
}
