/** The answer to a management request that failed (specification 7.2, contract section 2): `{message}`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorAnswer, logFailure } from '../server/errors.ts'

/** The error handler of the scope. The log line carries the request's id. */
export function sendManagementError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message, headers } = errorAnswer(error)
  if (status >= 500) logFailure(request.log, error, 'A management request failed.')
  reply.code(status).headers(headers).send({ message })
}
