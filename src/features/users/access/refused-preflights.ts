/**
 * Preflights of pages whose origin the agent does not list (contract section 25): refused in words, and logged now and
 * then.
 */
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../../../http/server/http-error.ts'
import { pathParam } from './caller.ts'

const HOUR_MS = 3_600_000
/** Lines an hour, of all origins: whoever sends many origins does not fill the log. */
const MOST_LINES = 100
/** Messages quote so much of an origin. */
const MOST_CHARACTERS = 300

/** Returns a function that throws 403. A page reads nothing of it; who looks at the answer does. */
export function createPreflightRefusal(
  now: () => number = () => performance.now(),
): (request: FastifyRequest) => never {
  let logged = new Set<string>()
  let since = now()

  /** Returns whether its line is due: one for each origin and agent an hour. */
  function isDue(key: string): boolean {
    if (now() - since >= HOUR_MS) {
      logged = new Set()
      since = now()
    }
    if (logged.has(key) || logged.size >= MOST_LINES) return false
    logged.add(key)
    return true
  }

  return (request) => {
    const origin = JSON.stringify((request.headers.origin ?? '').slice(0, MOST_CHARACTERS))
    const agentId = pathParam(request, 'agent_id')
    if (agentId === null)
      throw new HttpError(
        403,
        `Pages of the origin ${origin} cannot call this path; an agent's own paths are opened to them by its allowedOrigins.`,
      )
    if (isDue(`${agentId} ${origin}`)) {
      request.log.info(
        { origin, agentId },
        "A page of an origin that is not among the agent's allowedOrigins was refused.",
      )
    }
    throw new HttpError(403, `The origin ${origin} is not among the agent's allowedOrigins.`)
  }
}
