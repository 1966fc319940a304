/**
 * Judges which instances have fallen silent, by this process's monotonic clock alone: those whose lease number stayed the
 * same for one lease duration, in reads that were answered without a gap.
 */

/** An instance and its lease as a read showed it. */
export interface SeenLease {
  id: string
  lease: number
}

export function createLeaseJudge(leaseMs: number) {
  // Owners renew every third of a lease, so after a gap of half a lease a number is at most five sixths of a lease old.
  // After a longer gap an unchanged lease proves nothing: the database may not have answered the owners either.
  const longestGap = leaseMs / 2
  /** The lease number of each instance, and when the first read that showed it was answered. */
  let seen = new Map<string, { lease: number; since: number }>()
  let lastAnswer = Number.NEGATIVE_INFINITY
  return {
    /** Takes a successful read of the other leases; returns the silent ones. Times in ms, monotonic. */
    read(rows: readonly SeenLease[], sentAt: number, answeredAt: number): SeenLease[] {
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
    /** Starts every judgement over, because a read failed. */
    failed(): void {
      seen = new Map()
    },
  }
}
