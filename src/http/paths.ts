/** Errors that happen before or outside of every scope: broken URLs, unknown paths. In the surface's own format. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendDeployError } from './deploy/errors.ts'
import { keyCheck } from './deploy/scope.ts'
import { sendManagementError } from './management/errors.ts'
import { asksForPage, type SendPage } from './ui.ts'

const isDeploy = (url: string): boolean => /^\/api\/v1\/agents\/[^/]*\/deploy(?:[/?]|$)/.test(url)

function sendFrameworkError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (isDeploy(request.url)) sendDeployError(error, request, reply)
  else sendManagementError(error, request, reply)
}

/** For Fastify's `frameworkErrors` option. A broken URL meets no scope and none of its hooks; 401 still comes first. */
export function frameworkErrors(deployKeys: readonly string[]): typeof sendFrameworkError {
  const checkKey = keyCheck(deployKeys)
  return (error, request, reply) => {
    reply.header('x-request-id', request.id) // no hook has seen it
    try {
      if (isDeploy(request.url)) checkKey(request)
      sendFrameworkError(error, request, reply)
    } catch (refusal) {
      sendDeployError(refusal, request, reply)
    }
  }
}

/** Paths outside of `/api`: addresses of pages for browsers, 404 for everyone else. */
export function answerUnknownPaths(app: FastifyInstance, sendPage: SendPage): void {
  app.setErrorHandler(sendFrameworkError)
  app.setNotFoundHandler((request, reply) => {
    if (asksForPage(request)) return sendPage(reply)
    return reply
      .code(404)
      .send({ message: 'There is nothing at this path. The API lies under /api/v1, its description at /docs.' })
  })
}
