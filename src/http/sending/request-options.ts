/**
 * Reads what a request says about its reply, beside the message or the decisions that it brings: its key, its place,
 * its fields.
 */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { components } from '../../../openapi/generated/schema.ts'
import type { MessagePlace, SentMessage } from '../../actors/ports/index.ts'
import { broughtTools } from '../../features/approvals/index.ts'
import { isUuid } from '../../persistence/postgres/uuid.ts'
import { badRequest } from '../server/http-error.ts'
import { originOf } from '../server/observe-requests.ts'
import { readAnswerFields } from './answer-fields.ts'
import { type NameOf, refuse, snakeCase } from './refusals.ts'

type Body = components['schemas']['SessionCompletionRequest'] | components['schemas']['ActionsRequest']

/** Throws 400. */
export const requestOptions = (request: FastifyRequest, body: Body) => ({
  includeUsage: body.stream_options?.include_usage === true,
  idempotency: idempotencyOf(request, body),
  isRetry: isRetry(request),
  origin: originOf(request),
  fields: readAnswerFields(body),
  reasoning: body.include_reasoning === true,
  includeActions: body.include_actions === true,
  ...broughtTools(body),
})

const MAX_KEY_LENGTH = 255

/**
 * Returns the request's `Idempotency-Key` with a hash of the input that it stands for. Null when none was sent. Throws
 * 400.
 */
export function idempotencyOf(request: FastifyRequest, hashedInput: unknown): SentMessage['idempotency'] {
  const key = request.headers['idempotency-key']
  if (key === undefined || key === '') return null
  if (typeof key !== 'string' || key.length > MAX_KEY_LENGTH) {
    return badRequest(`Idempotency-Key: must have at most ${MAX_KEY_LENGTH} characters`)
  }
  return { key, bodyHash: hashOf(hashedInput, request.uploads?.named) }
}

/** Returns the hash of a value. `named` puts the SHA-256 of bytes in their place. Throws 400. */
export const hashOf = (value: unknown, named = (text: string) => text): Buffer =>
  createHash('sha256')
    .update(named(jsonOf(value)))
    .digest()

/**
 * Writes the value as JSON. JSON is parsed however deep it nests, but written only as deep as the stack is. Throws 400.
 */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return badRequest('body: is nested too deeply')
  }
}

/**
 * Returns whether the request is a client's retry. Official clients count their own retries in this header (design:
 * they try twice, without any key).
 */
export const isRetry = (request: FastifyRequest): boolean =>
  Number(request.headers['x-stainless-retry-count'] ?? 0) >= 1

interface WantedPlace {
  parentId?: string | null | undefined
  regenerate?: boolean | null | undefined
  messageId?: string | null | undefined
}

/**
 * Returns the message's place in the session's tree (contract section 14). When undefined, after the head. Throws 400.
 */
export function readPlace(
  { parentId, regenerate, messageId }: WantedPlace,
  nameOf: NameOf = snakeCase,
): MessagePlace | undefined {
  if (regenerate === true) {
    if (parentId !== undefined) badRequest(`${nameOf('parent_id')}: cannot stand beside regenerate`)
    if (messageId != null && !isUuid(messageId)) refuse('unknown_message', nameOf)
    return { regenerate: messageId?.toLowerCase() ?? null }
  }
  if (messageId != null) badRequest(`${nameOf('message_id')}: can only stand beside regenerate`)
  if (parentId === undefined) return undefined
  if (parentId !== null && !isUuid(parentId)) refuse('unknown_parent', nameOf)
  return { parent: parentId?.toLowerCase() ?? null }
}
