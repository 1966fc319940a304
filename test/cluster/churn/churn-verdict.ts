/** What a run of churn has shown: its figures, and what must not be. */
import type { Cluster } from '../../support/programs/cluster.ts'
import { messagesOf } from '../../support/programs/product.ts'
import { expectedText, type startChurnModel } from './churn-model.ts'
import type { Read } from './churn-readers.ts'

export interface ChurnVerdict {
  figures: Record<string, number | string>
  violations: string[]
}

/** What was done to an instance, and when it began (ms since 1970). */
export interface Act {
  kind: 'restart' | 'kill'
  instance: number
  at: number
}

export interface Seen {
  cluster: Cluster
  model: Awaited<ReturnType<typeof startChurnModel>>
  reads: readonly Read[]
  counted: Record<string, number>
  acts: readonly Act[]
  /** When the last instance of the version before was gone. Its own replies end with it. */
  upgradedAt: number
  leaseMs: number
  onLoss: string
}

export async function verdictOf({ cluster, model, reads, counted, acts, upgradedAt, leaseMs, onLoss }: Seen) {
  /** The longest silence that a reader who resumes may see. */
  const longestSilenceMs = 2 * leaseMs + 1000
  const violations = model.faults.map((fault) => `asked wrongly: ${fault}`)
  for (const read of reads) violations.push(...(await faultsOf(read, cluster, upgradedAt)))
  const twice = [...model.made].filter(([, times]) => times > 1)
  for (const [call, times] of twice) violations.push(`call ${call} was made ${times} times`)
  // Replies that an instance of the version before had end with it, and those beside it may.
  const long = reads.filter(({ begunAt, silence }) => begunAt > upgradedAt && silence.ms > longestSilenceMs)
  if (onLoss === 'continue') violations.push(...long.map(({ name, silence }) => silenceOf(name, silence, acts)))
  const silences = reads.map(({ silence }) => Math.round(silence.ms)).sort((a, b) => a - b)
  return {
    violations,
    figures: {
      ...counted,
      replies: reads.length,
      'replies that ended in error': reads.filter(({ error }) => error !== null).length,
      'tool calls made': model.made.size,
      'tool calls made twice': twice.length,
      'model calls': model.calls.length,
      'connections resumed': reads.reduce((sum, { resumed }) => sum + resumed, 0),
      ...(await takeovers(cluster, acts)),
      'longest silence of a reader, ms': silences.at(-1) ?? 0,
      'longest silence of half the readers, ms': silences[Math.floor(silences.length / 2)] ?? 0,
      'readers with a silence above the limit': silences.filter((ms) => ms > longestSilenceMs).length,
      'limit (two leases and a second), ms': longestSilenceMs,
    },
  } satisfies ChurnVerdict
}

interface TakenOver {
  reason: string
  at: number
  /** When the former owner was declared lost. Null when it was not. */
  lostAt: number | null
}

/** How many replies were taken over, and how long that took after a kill. */
async function takeovers({ database }: Cluster, acts: readonly Act[]): Promise<ChurnVerdict['figures']> {
  const taken = await database.sql<TakenOver[]>`
    select t.detail ->> 'reason' as reason, extract(epoch from t.at)::float8 * 1000 as at,
           extract(epoch from i.lost_at)::float8 * 1000 as "lostAt"
      from steps t left join instances i on i.id::text = t.detail ->> 'from'
     where t.event = 'handover' order by t.at`
  const counts = Map.groupBy(taken, ({ reason }) => reason)
  const losses = taken.flatMap(({ reason, at, lostAt }) => {
    if (reason !== 'instance_lost' || lostAt === null) return []
    const kill = acts.findLast((act) => act.kind === 'kill' && act.at <= lostAt)
    return kill ? [{ declared: lostAt - kill.at, taken: at - lostAt }] : []
  })
  const most = (of: 'declared' | 'taken') => Math.round(Math.max(0, ...losses.map((loss) => loss[of])))
  return {
    ...Object.fromEntries([...counts].map(([reason, { length }]) => [`taken over (${reason})`, length])),
    'declared lost after a kill, at most, ms': most('declared'),
    'taken over after that, at most, ms': most('taken'),
  }
}

function silenceOf(name: string, { ms, from, position }: Read['silence'], acts: readonly Act[]): string {
  const near = acts.filter(({ at }) => at > from - 10_000 && at < from + ms)
  const beside = near.map(({ kind, instance, at }) => `${kind} of ${instance} at ${Math.round(at - from)} ms`)
  return `${name} was silent for ${Math.round(ms)} ms behind ${position} characters (${beside.join(', ')})`
}

async function faultsOf(
  { name, session, begunAt, text, error, disorder }: Read,
  { balancer }: Cluster,
  upgradedAt: number,
): Promise<string[]> {
  const faults: string[] = []
  const expected = expectedText(name)
  const message = (await messagesOf(balancer, session)).at(-1)
  if (error !== null && begunAt > upgradedAt) faults.push(`${name} ended as ${error}`)
  if (error === null && text !== expected) faults.push(`${name} said ${text}, not ${expected}`)
  if (error === null && message?.content !== expected) faults.push(`${name} is stored as ${message?.content}`)
  if (disorder > 0) faults.push(`${name}: ${disorder} frames out of order`)
  return faults
}
