/** The answer to a deploy request that failed (specification 7.1, contract section 3): `{error}`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReplyError } from '../../actors/reply-event.ts'
import { errorAnswer, logFailure } from '../error-answer.ts'
import { HttpError, Unauthorized } from '../http-error.ts'
import { noRetry } from '../refusals.ts'

/** A failed generation that was not streamed: the server has tried again itself. */
export function generationFailed({ message }: ReplyError): never {
  throw new HttpError(500, message, noRetry)
}

/** The error handler of the scope. 401 alone has the object form. */
export function sendDeployError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message, headers } = errorAnswer(error)
  const expected = error instanceof HttpError
  if (status >= 500 && !expected) logFailure(request.log, error, 'A deploy request failed.')
  const code = error instanceof Unauthorized ? error.code : 'invalid_api_key'
  const body = status === 401 ? { error: { message, type: 'invalid_request_error', code } } : { error: message }
  reply.code(status).headers(headers).send(body)
}
