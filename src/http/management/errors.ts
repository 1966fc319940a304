/** The answer to a management request that failed (specification 7.2, contract section 2): `{message}`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorAnswer, logFailure } from '../server/errors.ts'
import { HttpError } from '../server/http-error.ts'

/** Answers errors of the scope. The log line carries the request's id. */
export function sendManagementError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message, headers } = errorAnswer(error)
  // A drain, or more than fits at the moment, refuses as it is meant to.
  const isRefused = error instanceof HttpError && status === 503
  if (status >= 500 && !isRefused) logFailure(request.log, error, 'A management request failed.')
  reply.code(status).headers(headers).send({ message })
}
