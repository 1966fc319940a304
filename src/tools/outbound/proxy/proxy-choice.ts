/** The choice of a proxy for a request, by the variables that every client reads (contract section 35). Pure. */
import ipaddr from 'ipaddr.js'

/** Proxies of the network. A URL may hold a user and password. */
export interface ProxySettings {
  /** The proxy of https addresses. */
  https: string | null
  /** The proxy of http addresses. */
  http: string | null
  /** The list of what is called directly: hosts, suffixes, ports, CIDR ranges, `*`. */
  none: string | null
}

/** An entry of NO_PROXY. */
type Bypass = (host: string, port: number) => boolean

/** Creates the function that returns the proxy of an address. Null when it is called directly. */
export function proxyChoice({ https, http, none }: ProxySettings): (url: URL) => string | null {
  const bypasses = (none ?? '').split(/[,\s]+/).flatMap((entry) => bypassOf(entry) ?? [])
  return (url) => {
    const isSecure = url.protocol === 'https:'
    const proxy = isSecure ? https : http
    const port = Number(url.port || (isSecure ? 443 : 80))
    const host = plainHost(url.hostname)
    return proxy === null || bypasses.some((bypass) => bypass(host, port)) ? null : proxy
  }
}

/** Returns a host without brackets and final dot, in lower case. */
const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(?<=.)\.$/, '')

/** Reads one entry. Null for an empty one. An entry that makes no sense matches nothing. */
function bypassOf(entry: string): Bypass | null {
  if (entry === '') return null
  if (entry.includes('/')) return rangeOf(entry)
  const [, name = entry, port] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(entry) ?? []
  const matches = hostMatch(plainHost(name))
  return (host, its) => (port === undefined || Number(port) === its) && matches(host)
}

function rangeOf(entry: string): Bypass | null {
  if (!ipaddr.isValidCIDR(entry)) return null
  const [range, bits] = ipaddr.parseCIDR(entry)
  return (host) => {
    const address = addressOf(host)
    return address !== null && address.kind() === range.kind() && address.match(range, bits)
  }
}

/** Returns an address, IPv4 where IPv6 only maps it. Null for a name. */
const addressOf = (host: string) => (ipaddr.isValid(host) ? ipaddr.process(host) : null)

/**
 * Returns the test for an entry. `example.com` and `.example.com` cover the host and the names below it, `*.example.com`
 * the names below it alone.
 */
function hostMatch(name: string): (host: string) => boolean {
  if (name === '*') return () => true
  const address = addressOf(name)
  if (address !== null) return (host) => addressOf(host)?.toString() === address.toString()
  const suffix = name.replace(/^\*?\./, '')
  const ascii = URL.parse(`http://${suffix}`)?.hostname ?? suffix
  return (host) => (host === ascii && !name.startsWith('*')) || host.endsWith(`.${ascii}`)
}
