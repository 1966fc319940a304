/** Tells what a page of another origin makes a browser send (contract sections 2 and 11). */
import type { FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'

const readOnly = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Returns whether this is a state-changing request with a foreign `Origin`. Without one, no page is behind it. */
export function isForeignChange(request: FastifyRequest): boolean {
  const { origin } = request.headers
  return !readOnly.has(request.method) && origin !== undefined && !isOwn(origin, request)
}

/** Throws 403. */
export function refuseForeignOrigin(request: FastifyRequest): void {
  if (isForeignChange(request)) throw new HttpError(403, 'This request comes from a page of another origin.')
}

function isOwn(origin: string, request: FastifyRequest): boolean {
  if (!URL.canParse(origin)) return false // `null` among them
  const { protocol, host } = new URL(origin)
  if (protocol !== 'http:' && protocol !== 'https:') return false
  const scheme = toldScheme(request)
  if (scheme !== null && protocol !== `${scheme}:`) return false
  // If a proxy forwards no scheme, a Host without a port has the default one of the page's scheme.
  const own = `${protocol}//${request.host}`
  return !/[\s/\\?#@]/.test(request.host) && URL.canParse(own) && new URL(own).host === host
}

/**
 * Returns null when plain HTTP came in, which may have been HTTPS before a proxy that says nothing, or is not trusted.
 */
function toldScheme(request: FastifyRequest): string | null {
  const scheme = request.protocol.toLowerCase()
  if (scheme !== 'http') return scheme
  const forwarded = [request.headers['x-forwarded-proto']].flat().at(-1)?.split(',').at(-1)?.trim().toLowerCase()
  // More than one address is known only where the nearest one is trusted.
  return forwarded === 'http' && (request.ips?.length ?? 0) > 1 ? 'http' : null
}
