/** The answer to a deploy request that failed (specification 7.1, contract sections 3 and 13): `{error}`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReplyError } from '../../actors/reply/reply-event.ts'
import { noRetry } from '../sending/refusals.ts'
import { errorAnswer, logFailure } from '../server/errors.ts'
import { HttpError, Unauthorized } from '../server/http-error.ts'

/** The conversation is too long for the model: the caller's to change. */
class ContextExceeded extends HttpError {}

/** A failed generation that was not streamed: the server has tried again itself. */
export function generationFailed({ code, message }: ReplyError): never {
  if (code === 'context_length_exceeded') throw new ContextExceeded(400, message, noRetry)
  throw new HttpError(500, message, noRetry)
}

/** The error handler of the scope. 400 and 401 have the object form: several clients show nothing of a plain string. */
export function sendDeployError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message, headers } = errorAnswer(error)
  const expected = error instanceof HttpError
  if (status >= 500 && !expected) logFailure(request.log, error, 'A deploy request failed.')
  const code = error instanceof Unauthorized ? error.code : 'invalid_api_key'
  reply
    .code(status)
    .headers(headers)
    .send({ error: error instanceof ContextExceeded ? tooLong(message) : bodyOf(status, message, code) })
}

const tooLong = (message: string) => ({
  message,
  ...{ type: 'invalid_request_error', code: 'context_length_exceeded', param: 'messages' },
})

function bodyOf(status: number, message: string, code: string): object | string {
  const type = 'invalid_request_error'
  if (status === 401) return { message, type, code }
  return status === 400 ? { message, type, code: 'invalid_request', param: paramOf(message) } : message
}

/** The field at fault, which messages of 400 begin with (`badRequest`). Null stands for the body or query as a whole. */
function paramOf(message: string): string | null {
  const [, param = null] = /^([^\s:]+): /.exec(message) ?? []
  return param === 'body' || param === 'query' ? null : param
}
