/** A web page must not reach an open server through a name of its own (contract section 1, `ALLOWED_HOSTS`). */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'

export interface HostRule {
  /** Host names that may be asked for, without port. */
  allowedHosts: readonly string[]
  /** The server listens for this machine alone. */
  loopbackOnly: boolean
  /** The scope asks for a key or a login: then a foreign page gets nowhere. */
  needsCredential: boolean
}

/**
 * Returns a hook for either scope. Throws 403 for a host name that may not be asked for. Both `Host` and what a trusted
 * proxy forwards must be allowed: a page can set `X-Forwarded-Host`, but not `Host`.
 */
export function refuseForeignHosts({ allowedHosts, loopbackOnly, needsCredential }: HostRule) {
  const allowed = new Set(['localhost', ...allowedHosts.map((name) => name.toLowerCase())])
  const applies = loopbackOnly && !needsCredential
  return (request: FastifyRequest): void => {
    if (!applies) return
    for (const host of [request.headers.host, request.host]) {
      // No host at all is no page: browsers always send one.
      if (host === undefined || host === '' || mayAsk(host, allowed)) continue
      throw new HttpError(403, `The host name of this request is not allowed; ALLOWED_HOSTS lists those that are.`)
    }
  }
}

function mayAsk(host: string, allowed: ReadonlySet<string>): boolean {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1]?.toLowerCase()
  if (name === undefined) return false
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || allowed.has(name.replace(/\.$/, ''))
}

/** Throws 400 for a request with more than one `Host` (RFC 9112, section 3.2): a proxy before us may have read the other. */
export function refuseSecondHost({ raw: { rawHeaders } }: FastifyRequest): void {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1) throw new HttpError(400, 'Host: may be given only once')
}
