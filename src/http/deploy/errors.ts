/** What a deploy request is told when it fails (specification 7.1, contract section 3): `{error}`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReplyError } from '../../actors/reply-event.ts'
import type { Refusal } from '../../actors/session-host.ts'
import { HttpError } from '../http-error.ts'
import { managementError } from '../management/errors.ts'

/** Official clients try again by themselves on 409 and 5xx; this stops them. */
const noRetry = { 'x-should-retry': 'false' }
const retryAfter = { 'retry-after': '2' }

interface ErrorRow {
  status: number
  say: string
  headers: Readonly<Record<string, string>>
}

/** Why a message was not taken. */
export const refusals = {
  busy: { status: 409, say: 'A reply is running in this session.', headers: noRetry },
  key_reused: { status: 400, say: 'Idempotency-Key: was used for another body', headers: {} },
  not_found: { status: 404, say: 'There is no such session.', headers: {} },
  full: { status: 503, say: 'Too many replies run at the moment.', headers: retryAfter },
  draining: { status: 503, say: 'The instance is shutting down.', headers: retryAfter },
  stale: { status: 503, say: 'The configuration is being changed.', headers: retryAfter },
  unavailable: { status: 503, say: 'The instance can not write at the moment.', headers: retryAfter },
} satisfies Record<Refusal, ErrorRow>

/** Throws the refusal as its HTTP error. */
export function refuse(outcome: keyof typeof refusals): never {
  const { status, say, headers } = refusals[outcome]
  throw new HttpError(status, say, headers)
}

/** A failed generation that was not streamed: the server has tried again itself. */
export function generationFailed({ message }: ReplyError): never {
  throw new HttpError(500, message, noRetry)
}

/** The error handler of the scope. 401 alone has the object form. */
export function sendDeployError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message, headers } = managementError(error)
  const expected = error instanceof HttpError
  if (status >= 500 && !expected) request.log.error({ err: error }, 'a deploy request failed')
  const body =
    status === 401 ? { error: { message, type: 'invalid_request_error', code: 'invalid_api_key' } } : { error: message }
  reply.code(status).headers(headers).send(body)
}
