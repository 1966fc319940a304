/** The key or retry by which a request joins the reply that an earlier one started (contract section 4). */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { MessageRecord } from '../../actors/session/host.ts'
import { badRequest } from '../server/http-error.ts'

const MAX_KEY_LENGTH = 255

/** The request's `Idempotency-Key` with a hash of the input that it stands for. Null when none was sent. Throws 400. */
export function idempotencyOf(request: FastifyRequest, hashedInput: unknown): MessageRecord['idempotency'] {
  const key = request.headers['idempotency-key']
  if (key === undefined || key === '') return null
  if (typeof key !== 'string' || key.length > MAX_KEY_LENGTH) {
    return badRequest(`Idempotency-Key: must have at most ${MAX_KEY_LENGTH} characters`)
  }
  return { key, bodyHash: hashOf(hashedInput, request.uploads?.named) }
}

/** `named` puts the SHA-256 of bytes in their place. Throws 400. */
export const hashOf = (value: unknown, named = (text: string) => text): Buffer =>
  createHash('sha256')
    .update(named(jsonOf(value)))
    .digest()

/** JSON is parsed however deep it nests, but written only as deep as the stack is. Throws 400. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return badRequest('body: is nested too deeply')
  }
}

/** Official clients count their own retries in this header (design: they try twice, without any key). */
export const isRetry = (request: FastifyRequest): boolean =>
  Number(request.headers['x-stainless-retry-count'] ?? 0) >= 1
