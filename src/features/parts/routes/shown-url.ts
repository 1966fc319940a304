/** The address at which a page shows a picture: a path names the page's own server, which may be another one. */
import type { FastifyRequest } from 'fastify'

/**
 * Returns the function that completes a path of this API for whoever sent the request. It stays a path for pages of this
 * origin and for programs, which know where they asked; `publicUrl` (PUBLIC_URL), where it is set, counts for everybody.
 */
export function shownUrls(request: FastifyRequest, publicUrl: string | null): (path: string) => string {
  const base = publicUrl ?? addressForPage(request)
  return (path) => (base === null ? path : base + path)
}

/** Returns null where no page of another origin asks. */
function addressForPage({ headers: { origin }, protocol, host, hostname }: FastifyRequest): string | null {
  const page = origin === undefined ? null : URL.parse(origin)
  if (page === null) return null
  const isNear = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
  // A proxy that ends TLS may not say so. A page under https reaches no other servers than those under https.
  const scheme = page.protocol === 'https:' && !isNear ? 'https' : protocol
  const address = URL.parse(`${scheme}://${host}`)
  return address === null || address.pathname !== '/' ? null : address.origin
}

const partPath = /^\/api\/v1\/agents\/[^/?#]+\/deploy\/sessions\/[^?#]+\/parts\/\d+$/

/**
 * Returns the function that finds the path of a stored part in an address that this server has shown: under the host at which
 * the request asked, or `publicUrl`. Null for an address of another server, whatever its path.
 */
export function shownPaths(
  { host }: Pick<FastifyRequest, 'host'>,
  publicUrl: string | null,
): (address: string) => string | null {
  return (address) => {
    const url = URL.parse(address)
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null
    if (publicUrl !== null && address.startsWith(`${publicUrl}/`)) return partPathIn(address.slice(publicUrl.length))
    // The scheme may have been the page's: see addressForPage.
    return url.host === URL.parse(`${url.protocol}//${host}`)?.host ? partPathIn(url.pathname + url.search) : null
  }
}

const partPathIn = (path: string): string | null => (partPath.test(path) ? path : null)
