/** Requests that begin no reply, and count under a minute's limit all the same (contract section 35). */
import { newId } from '../../../actors/reply/new-id.ts'
import { refuse } from '../../../http/sending/refusals.ts'
import { type CallerLimits, limitsInForce, refuseOver } from './caller-limits.ts'
import type { LimitDependencies, LimitedCaller } from './stateless-limits.ts'

/** Counts the request, then does the work. Work that fails counts nothing. Throws 429. */
export async function asCountedRequest<T>(
  { limits: gate }: Pick<LimitDependencies, 'limits'>,
  { agent, user, counted }: LimitedCaller,
  work: () => Promise<T>,
): Promise<T> {
  const limits = minuteLimits(agent, counted)
  if (limits === null) return await work()
  const request = { replyId: newId(), agentId: agent.id, user, limits }
  const verdict = await gate.take(request)
  if (verdict === null) return refuse('unavailable')
  const { over, rate } = verdict
  if (over) refuseOver({ over, rate })
  if (rate) counted.tell(rate)
  try {
    return await work()
  } catch (error) {
    await gate.giveBack(request)
    throw error
  }
}

/** Returns the limits of requests a minute alone. It is null when there are none. */
function minuteLimits(agent: LimitedCaller['agent'], counted: CallerLimits) {
  const { key, user } = limitsInForce(agent, counted) ?? {}
  const ofKey = key?.requestsPerMinute && { key: { id: key.id, requestsPerMinute: key.requestsPerMinute } }
  const ofUser = user?.requestsPerMinute && { user: { requestsPerMinute: user.requestsPerMinute } }
  return ofKey || ofUser ? { ...ofKey, ...ofUser } : null
}
