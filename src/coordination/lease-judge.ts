/**
 * Who has fallen silent, judged without anybody's clock but this process's own monotonic one: an instance whose lease, a
 * number, stayed the same for one lease in reads that were answered without a gap.
 */

/** An instance and its lease as a read showed it. */
export interface SeenLease {
  id: string
  lease: number
}

export interface LeaseJudge {
  /** An answered read of the others' leases; returns those that are silent. Times in ms, monotonic. */
  read(rows: readonly SeenLease[], sentAt: number, answeredAt: number): SeenLease[]
  /** A read was not answered: every judgement begins anew. */
  failed(): void
}

export function createLeaseJudge(leaseMs: number): LeaseJudge {
  // An owner renews at a third, so after a pause of half a lease its number is at most five sixths of a lease old. Where a
  // pause was longer nobody's silence says anything: the database may not have answered the owner either.
  const longestGap = leaseMs / 2
  /** Of each instance: its lease, and when the first read that showed it was answered. */
  let seen = new Map<string, { lease: number; since: number }>()
  let lastAnswer = Number.NEGATIVE_INFINITY
  return {
    read(rows, sentAt, answeredAt) {
      const known = answeredAt - lastAnswer > longestGap ? new Map<string, never>() : seen
      lastAnswer = answeredAt
      seen = new Map(
        rows.map(({ id, lease }) => {
          const before = known.get(id)
          return [id, before?.lease === lease ? before : { lease, since: answeredAt }]
        }),
      )
      return rows.filter(({ id }) => sentAt - (seen.get(id)?.since ?? sentAt) >= leaseMs)
    },
    failed() {
      seen = new Map()
    },
  }
}
