/** What a request says about its reply, beside the message or the decisions that it brings. Throws 400. */
import type { FastifyRequest } from 'fastify'
import type { components } from '../../../../openapi/generated/schema.ts'
import { originOf } from '../../server/observe-requests.ts'
import { idempotencyOf, isRetry } from '../idempotency.ts'
import { readAnswerFields } from './answer-fields.ts'
import { broughtTools } from './caller-tools.ts'

type Body = components['schemas']['SessionCompletionRequest'] | components['schemas']['ActionsRequest']

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
