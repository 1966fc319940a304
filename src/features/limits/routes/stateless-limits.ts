/** Limits of a request that stores nothing: judged by a statement of its own, since it has no admission (contract section 23). */
import type { CountsFor, Limits } from '../../../actors/ports/index.ts'
import { refuse } from '../../../http/sending/refusals.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import type { LimitGate } from '../store/limits.ts'
import { type CallerLimits, countsForUser, limitsInForce, refuseOver } from './caller-limits.ts'

export interface StatelessLimits {
  /** Absent when its use counts for nobody. */
  countsFor: CountsFor | undefined
  /** Throws 429 where it could not pass now. Counts nothing. */
  look(): Promise<void>
  /** Counts it, and takes its places. Throws 429, and 503 when this instance cannot say. */
  take(): Promise<void>
  /** Resolves when its use is counted and its places are free, once its reply has ended. */
  counted(): Promise<void>
}

/** The caller of a request, and the limits that it counts under. */
export interface LimitedCaller {
  agent: { id: string; userLimits: Limits | null }
  user: string | null
  counted: CallerLimits
}

interface Request extends LimitedCaller {
  /** The reply's id. */
  id: string
}

export interface LimitDependencies {
  limits: LimitGate
  /** Resolves when every reply that has ended here is counted, and has given back its place. */
  usageStored(): Promise<void>
}

/** The length that users of sessions may have too. */
const LONGEST_USER = 200

/** Throws 400 for a user that nothing can be counted for. */
export function limitStateless(
  { limits: gate, usageStored }: LimitDependencies,
  { id, agent, user, counted }: Request,
): StatelessLimits {
  if (agent.userLimits && user !== null && [...user.slice(0, 3 * LONGEST_USER)].length > LONGEST_USER) {
    badRequest(`user: must have at most ${LONGEST_USER} characters`)
  }
  const limits = limitsInForce(agent, counted)
  const judge = async (isLook: boolean) => {
    if (limits === undefined) return
    const verdict = await gate.take({ replyId: id, agentId: agent.id, user, limits, isLook })
    if (verdict === null) return refuse('unavailable')
    const { over, rate } = verdict
    if (over) refuseOver({ over, rate })
    if (rate && !isLook) counted.tell(rate)
  }
  return {
    countsFor: countsForUser(agent, counted, user),
    look: () => judge(true),
    take: () => judge(false),
    counted: async () => (limits === undefined ? undefined : await usageStored()),
  }
}
