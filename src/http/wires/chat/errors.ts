/** The answer to a deploy request that failed (specification 7.1, contract sections 3, 13 and 24): `{error}`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReplyError } from '../../../actors/reply/reply-event.ts'
import { noRetry } from '../../sending/refusals.ts'
import { errorAnswer, logFailure } from '../../server/errors.ts'
import { CodedError, HttpError } from '../../server/http-error.ts'

const TOO_LONG = 'context_length_exceeded'

/** Refuses a failed generation that was not streamed: the server has tried again itself. */
export function generationFailed({ message, code }: ReplyError): never {
  // The conversation is too long for the model: the caller's to change.
  if (code === TOO_LONG) throw new CodedError(400, message, code, noRetry)
  throw new CodedError(500, message, code, noRetry)
}

/** Answers errors of the scope. 400 and 401, and a 429 that has a code, have the object form: several clients show
 * nothing of a plain string. */
export function sendDeployError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const answer = errorAnswer(error)
  const { status, headers } = answer
  const expected = error instanceof HttpError
  if (status >= 500 && !expected) logFailure(request.log, error, 'A deploy request failed.')
  const code = error instanceof CodedError ? error.code : null
  const body = isOpenAiPath(request.url) ? openAiBody(answer, code) : bodyOf(answer, code)
  if (status === 401) reply.header('www-authenticate', challengeTo(request))
  reply.code(status).headers(headers).send({ error: body })
}

/** Returns the challenge of RFC 6750. `access_token` in the query is a credential too. */
function challengeTo({ headers, query }: FastifyRequest): string {
  const wasSent = Boolean(headers.authorization) || 'access_token' in Object(query)
  return wasSent ? 'Bearer realm="greenroom", error="invalid_token"' : 'Bearer realm="greenroom"'
}

interface Answer {
  status: number
  message: string
}

const invalid = 'invalid_request_error'

function bodyOf({ status, message }: Answer, code: string | null): object | string {
  if (status === 401) return { message, type: invalid, code: code ?? 'invalid_api_key' }
  if (status === 429 && code !== null) return { message, type: invalid, code, param: null }
  if (status !== 400) return message
  const param = code === TOO_LONG ? 'messages' : paramOf(message)
  return { message, type: invalid, code: code ?? 'invalid_request', param }
}

/** Returns whether this is a path whose clients read OpenAI's object in every status (contract section 24). */
const isOpenAiPath = (url: string): boolean =>
  /^\/api\/v1\/(?:agents\/[^/?]+\/deploy|openai)\/(?:responses|conversations|files)(?:[/?]|$)/.test(url)

const codes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'invalid_api_key',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  429: 'rate_limit_exceeded',
}

function openAiBody({ status, message }: Answer, code: string | null): object {
  const type = status >= 500 ? 'server_error' : invalid
  const usual = codes[status] ?? (status >= 500 ? 'server_error' : 'invalid_request')
  const param = code === TOO_LONG ? 'input' : paramOf(message)
  return { message, type, code: code ?? usual, param: status < 500 ? param : null }
}

/**
 * Returns the field at fault, which messages of 400 begin with (`badRequest`). Null stands for the body or query as a
 * whole.
 */
function paramOf(message: string): string | null {
  const [, param = null] = /^([^\s:]+): /.exec(message) ?? []
  return param === 'body' || param === 'query' ? null : param
}
