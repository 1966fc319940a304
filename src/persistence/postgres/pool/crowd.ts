/** The pools of one instance, which share the connections that the role and the server allow. */

/** A pool as the others see it. */
export interface CrowdMember {
  /** Reports whether statements wait in a pool that the server gives no connection. */
  isStarving(): boolean
  /** Closes an idle connection that the pool can do without. */
  release(): void
}

export interface Crowd {
  join(member: CrowdMember): void
  leave(member: CrowdMember): void
  /** Asks the other pools for a connection. */
  ask(member: CrowdMember): void
  /** Reports whether another pool has none and needs one. */
  isNeeded(member: CrowdMember): boolean
}

export function createCrowd(): Crowd {
  const members = new Set<CrowdMember>()
  const others = (member: CrowdMember) => [...members].filter((other) => other !== member)
  return {
    join: (member) => void members.add(member),
    leave: (member) => void members.delete(member),
    ask(member) {
      for (const other of others(member)) other.release()
    },
    isNeeded: (member) => others(member).some((other) => other.isStarving()),
  }
}
