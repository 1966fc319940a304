/** Limits of a key, and of each user of an agent (contract section 23). Types only. */

/** Absent when there is no such limit. */
export interface Limits {
  requestsPerMinute?: number
  concurrentReplies?: number
  /** Prompt and completion tokens of a day, UTC. */
  tokensPerDay?: number
  /** Cost of a month (UTC), by the prices that are set. */
  costPerMonth?: number
}

/** The limits that a message, or a stateless request, counts for. The user's count where there is a user. */
export interface LimitsInForce {
  key?: Limits & { id: string }
  user?: Limits
}

/** The counts of a reply's use, also when nothing limits it now. */
export interface Counts {
  /** Id of the named key that it was asked for with. */
  key?: string
  /** True when its user has limits with this agent. */
  user?: true
  /** Id of the agent of the session above all, if its user has limits with that one. */
  top?: string
}

/** The same with their names. Null when there is none. */
export interface CountsFor {
  key: string | null
  user: string | null
}

/** The limit that refuses a request. */
export interface OverLimit {
  of: 'key' | 'user'
  limit: keyof Limits
  most: number
  /** Seconds until it may pass. */
  wait: number
}

/** A limit of requests a minute, as its answer tells it. */
export interface RequestRate {
  limit: number
  remaining: number
  /** Seconds until all are free again. */
  reset: number
}
