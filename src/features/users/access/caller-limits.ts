/** The limits that a deploy caller's credentials bring (contract section 23). */
import type { FastifyReply } from 'fastify'
import type { Limits } from '../../../actors/ports/index.ts'
import { type CallerLimits, rateHeaders } from '../../limits/index.ts'
import { type Caller, keyIdOf } from './caller.ts'

/** Returns the limits that a deploy message counts towards. Playground messages count towards none. */
export function callerLimits(caller: Caller, reply: FastifyReply): CallerLimits {
  const id = keyIdOf(caller)
  return {
    key: id === null ? null : { id, limits: limitsOf(caller) },
    tell: (rate) => void reply.headers(rateHeaders(rate)),
  }
}

function limitsOf(caller: Caller): Limits | null {
  if (caller.kind === 'secret') return caller.keyLimits
  return caller.kind === 'key' ? (caller.named?.limits ?? null) : null
}
