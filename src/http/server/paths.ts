/** Unknown paths, and those that cannot be decoded. */
import type { FastifyInstance } from 'fastify'
import { isPercentEncoded } from '../../untrusted/percent-encoded.ts'
import { sendManagementError } from '../management/errors.ts'
import { bodyWithMeantPath } from '../management/meant-path.ts'
import { asksForPage, type SendPage } from '../pages/ui.ts'

/**
 * Makes a path readable. Called as Fastify's `rewriteUrl`, before a scope, a key or a login is looked at. Percent signs
 * of a path that cannot be decoded stand for themselves: Fastify's own 400 would come before its scope has seen it, and
 * so before 401. The scope then knows nothing by that name.
 */
export function readableUrl({ url = '/' }: { url?: string | undefined }): string {
  const [path = ''] = url.split(/[?#]/, 1)
  return readablePath(withoutExtraSlashes(path)) + url.slice(path.length)
}

const readablePath = (path: string): string => (isPercentEncoded(path) ? path : path.replaceAll('%', '%25'))

/**
 * Returns the path without doubled slashes. Base URLs are joined with a slash too many (contract section 25). The
 * reference's page has addresses below `/docs/`.
 */
function withoutExtraSlashes(path: string): string {
  if (!path.startsWith('/')) return path // not a path: `*`, or a whole URL
  const single = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path
  return single.length > 1 && single.endsWith('/') && !single.startsWith('/docs/') ? single.slice(0, -1) : single
}

/** Answers paths outside of `/api`: addresses of pages for browsers, 404 for everyone else. */
export function answerUnknownPaths(app: FastifyInstance, sendPage: SendPage): void {
  app.setErrorHandler(sendManagementError)
  app.setNotFoundHandler((request, reply) => {
    reply.header('vary', 'accept') // or a cache between gives one the other's answer
    if (asksForPage(request)) return sendPage(reply)
    const message = 'There is nothing at this path. The API lies under /api/v1, its description at /docs.'
    return reply.code(404).send(bodyWithMeantPath(request.url, message, 'not_found'))
  })
}

/**
 * Returns a path as logs and traces keep it: without the query, which may hold a credential, and without the name of a
 * user.
 */
export const shownPath = (url = ''): string =>
  (url.split('?', 1)[0] ?? '').replace(/(\/deploy\/users\/|\/api\/oauth\/start\/)[^/]+/, '$1…')
