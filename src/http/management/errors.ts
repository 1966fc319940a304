/** The answer to a management request that failed (specification 7.2, contract section 2): `{message}`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorAnswer, logFailure } from '../server/errors.ts'
import { HttpError } from '../server/http-error.ts'
import { bodyWithMeantPath } from './meant-path.ts'

/** Answers errors of the scope. The log line carries the request's id. */
export function sendManagementError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message, headers } = errorAnswer(error)
  // A drain, or more than fits at the moment, refuses as it is meant to.
  const isRefused = error instanceof HttpError && status === 503
  if (status >= 500 && !isRefused) logFailure(request.log, error, 'A management request failed.')
  // A path with other methods is known, and was meant.
  const isUnknown = request.routeOptions.config.operation === undefined && headers.allow === undefined
  const isNowhere = isUnknown && (status === 401 || status === 404)
  const code = status === 401 ? 'invalid_api_key' : 'not_found'
  reply
    .code(status)
    .headers(headers)
    .send(isNowhere ? bodyWithMeantPath(request.url, message, code) : { message })
}
