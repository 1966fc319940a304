/** Unknown paths, and those that cannot be decoded. */
import type { FastifyInstance } from 'fastify'
import { sendManagementError } from '../management/errors.ts'
import { asksForPage, type SendPage } from '../pages/ui.ts'

/**
 * Used as Fastify's `rewriteUrl`. Percent signs of a path that cannot be decoded stand for themselves: Fastify's own 400
 * would come before its scope has seen it, and so before 401. The scope then knows nothing by that name.
 */
export function readableUrl({ url = '/' }: { url?: string | undefined }): string {
  const [path = ''] = url.split(/[?#]/, 1)
  try {
    decodeURI(path)
    return url
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length)
  }
}

/** Paths outside of `/api`: addresses of pages for browsers, 404 for everyone else. */
export function answerUnknownPaths(app: FastifyInstance, sendPage: SendPage): void {
  app.setErrorHandler(sendManagementError)
  app.setNotFoundHandler((request, reply) => {
    reply.header('vary', 'accept') // or a cache between gives one the other's answer
    if (asksForPage(request)) return sendPage(reply)
    return reply
      .code(404)
      .send({ message: 'There is nothing at this path. The API lies under /api/v1, its description at /docs.' })
  })
}
