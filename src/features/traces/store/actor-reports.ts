/**
 * The live actors of all instances (contract section 8). The request is a row for each other instance, the report comes
 * back in that row, so it works with or without Redis.
 */

import type { Sql } from 'postgres'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Exchange } from '../../../actors/ports/index.ts'
import { pause } from '../../../async/pause.ts'
import type { ActorReport } from '../actor-report.ts'

type AnySql = Sql<Record<string, unknown>>

/** A report is read by instances of other releases too. What a later one may add is let through. */
const schema = Type.Object({
  actors: Type.Array(
    Type.Object({
      sessionId: Type.String(),
      agentId: Type.String(),
      state: Type.String(),
      since: Type.String(),
      subscribers: Type.Integer(),
      newest: Type.Optional(Type.Object({ frame: Type.Integer(), storedAt: Type.Number() })),
    }),
  ),
  followed: Type.Array(Type.Object({ sessionId: Type.String(), subscribers: Type.Integer() })),
})

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Does not compile when a report is not what the schema says. */
true satisfies Same<Flat<Static<typeof schema>>, Flat<ActorReport>>
type Flat<T> = T extends object ? { [Key in keyof T]: Flat<T[Key]> } : T

const checked = Compile(schema)

/** An instance checks for requests once a second. */
const LONGEST_WAIT_MS = 2000
const POLL_MS = 50

export type InstanceReport = ActorReport & { instanceId: string }

/** This instance among the others, and its report. */
export interface ReportOptions {
  sql: AnySql
  id: string
  exchange: Pick<Exchange, 'wake'>
  own(): ActorReport
}

export type ActorReports = ReturnType<typeof createActorReports>

/** Creates the reports by which instances show each other their actors. */
export const createActorReports = (options: ReportOptions) => ({
  own: options.own,
  /** Writes this instance's report when another one has requested it. */
  answer: () => answerReportRequest(options),
  /** Returns the own report, and those of all other instances that answer in time. */
  async all(): Promise<InstanceReport[]> {
    const others = await collectReports(options)
    return [{ instanceId: options.id, ...options.own() }, ...others]
  },
})

/** Writes this instance's report when one is requested. */
async function answerReportRequest({ sql, id, own }: ReportOptions): Promise<void> {
  const wanted = await sql`
    select 1 from actor_reports where instance_id = ${id} and (reported_at is null or reported_at < wanted_at)`
  if (wanted.length === 0) return
  const report = JSON.stringify(own())
  await sql`update actor_reports set reported_at = clock_timestamp(), report = ${report}::text::jsonb where instance_id = ${id}`
}

/**
 * Collects the reports of the other instances. One that does not answer within 2 s, or in a form that is not known, is left
 * out. Waking them may shorten the wait.
 */
async function collectReports({ sql, id, exchange }: ReportOptions): Promise<InstanceReport[]> {
  const asked = await sql<{ instanceId: string; wantedAt: string }[]>`
    insert into actor_reports (instance_id, wanted_at)
    select i.id, clock_timestamp() from instances i
     where i.id <> ${id} and i.lost_at is null
    on conflict (instance_id) do update set wanted_at = excluded.wanted_at
    returning instance_id as "instanceId", wanted_at::text as "wantedAt"`
  if (asked.length === 0) return []
  const instanceIds = asked.map(({ instanceId }) => instanceId)
  exchange.wake(instanceIds)
  const since = asked.map(({ wantedAt }) => wantedAt)
  for (const begin = performance.now(); ; await pause(POLL_MS)) {
    const rows = await sql<{ instanceId: string; report: unknown }[]>`
      select r.instance_id as "instanceId", r.report
        from actor_reports r
        join unnest(${instanceIds}::uuid[], ${since}::text[]::timestamptz[]) as a (id, since) on a.id = r.instance_id
       where r.reported_at >= a.since`
    if (rows.length === asked.length || performance.now() - begin > LONGEST_WAIT_MS) {
      return rows.flatMap(({ instanceId, report }) => (checked.Check(report) ? [{ instanceId, ...report }] : []))
    }
  }
}
