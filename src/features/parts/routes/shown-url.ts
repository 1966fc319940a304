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
