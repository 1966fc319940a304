/** Addresses that an outbound call may reach (contract section 6, outbound rule). Pure: no lookups, no sockets. */
import ipaddr from 'ipaddr.js'

/** An entry of OUTBOUND_ALLOW. `port` is null for every port. */
export type OutboundRule =
  | { kind: 'host'; host: string; port: number | null }
  | { kind: 'range'; address: string; prefix: number; family: 'ipv4' | 'ipv6' }

/**
 * The party that chose an address. A model chooses those of `web_fetch`; a redirect to another origin counts as its
 * choice too.
 */
export type Chooser = 'admin' | 'model'

export interface AddressRules {
  policy: 'standard' | 'strict'
  allow: readonly OutboundRule[]
}

/** The target of a connection. The host is as the URL parser writes it, without brackets. */
export interface Target {
  host: string
  port: number
  /** The resolved address. */
  address: string
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [Address, number]

const ranges = (...list: string[]): Range[] => list.map((range) => ipaddr.parseCIDR(range))

/** Link-local and cloud metadata addresses, which are always refused. */
const metadata = ranges(
  '169.254.0.0/16',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fe80::/10',
  'fd00:ec2::254/128', // AWS
  'fd20:ce::254/128', // Google Cloud
)

/** The addresses allocated to the public Internet. ipaddr.js knows the exceptions inside it, not what lies outside. */
const globalUnicast = ranges('2000::/3')

/** IPv6 ranges that embed an IPv4 address, and the byte at which it starts. */
const carriers: readonly (readonly [Range[], number])[] = [
  // Mapped; compatible; translated (RFC 6145); NAT64, well-known and local-use (RFC 6052, RFC 8215).
  [ranges('::ffff:0:0/96', '::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'), 12],
  // 6to4.
  [ranges('2002::/16'), 2],
]

/**
 * Decides whether a call may connect. Returns null, or the reason, without an address in it, since a model may read it.
 */
export function refusalOf(target: Target, chooser: Chooser, rules: AddressRules): string | null {
  const address = parse(target.address)
  if (!address) return 'it has no address that can be checked'
  if (matches(address, metadata)) {
    // A host name or a wide range was not meant to include these, and DNS can point a host name at them.
    return opens(rules.allow, target, address, metadata) ? null : 'link-local and metadata addresses are never called'
  }
  if (chooser === 'admin' && rules.policy === 'standard') return null
  if (isPublic(address) || opens(rules.allow, target, address, null)) return null
  return 'it is not a public address'
}

/** Parses an address. IPv4 embedded in IPv6 is read as IPv4. Returns null when it is not an address. */
function parse(text: string): Address | null {
  const bare = text.replace(/%.*$/, '') // the zone is not part of the address
  if (!ipaddr.isValid(bare) || (!bare.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(bare))) return null
  const address = ipaddr.parse(bare)
  if (address.kind() === 'ipv4' || address.range() === 'loopback' || address.range() === 'unspecified') return address
  const found = carriers.find(([list]) => matches(address, list))
  if (!found) return address
  const [, offset] = found
  return ipaddr.fromByteArray(address.toByteArray().slice(offset, offset + 4))
}

function isPublic(address: Address): boolean {
  if (matches(address, metadata) || address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || matches(address, globalUnicast)
}

const matches = (address: Address, list: readonly Range[]): boolean =>
  list.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits))

/**
 * Returns whether one of the operator's rules allows this target. With `within`, only an address or a range that lies
 * inside one of these ranges counts.
 */
function opens(allow: readonly OutboundRule[], target: Target, address: Address, within: Range[] | null): boolean {
  return allow.some((rule) => {
    const range = rangeOf(rule)
    const port = rule.kind === 'host' ? rule.port : null
    if (port !== null && port !== target.port) return false
    if (range) return matches(address, [range]) && (within === null || liesIn(range, within))
    return within === null && rule.kind === 'host' && sameHost(rule.host, target.host)
  })
}

/** Returns a rule's range. The settings parse an address with a port as a host. Null for a host name. */
function rangeOf(rule: OutboundRule): Range | null {
  if (rule.kind === 'host') return single(rule.host.replace(/^\[(.*)\]$/, '$1'))
  if (rule.prefix === (rule.family === 'ipv4' ? 32 : 128)) return single(rule.address)
  const address = ipaddr.parse(rule.address)
  const mapped = address.kind() === 'ipv6' && address.range() === 'ipv4Mapped' && rule.prefix >= 96
  // Only mapped addresses are written by hand; the other ranges that embed IPv4 would allow all of it.
  if (!mapped) return [address, rule.prefix]
  return [ipaddr.fromByteArray(address.toByteArray().slice(12)), rule.prefix - 96]
}

function single(text: string): Range | null {
  const address = parse(text)
  return address && [address, address.kind() === 'ipv4' ? 32 : 128]
}

const liesIn = ([address, bits]: Range, list: readonly Range[]): boolean =>
  list.some((outer) => bits >= outer[1] && matches(address, [outer]))

const plain = (host: string) => host.toLowerCase().replace(/\.$/, '')
const sameHost = (a: string, b: string) => plain(a) === plain(b)
