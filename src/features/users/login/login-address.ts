/** The addresses whose failures are counted together (contract section 2). */
import { isIPv6 } from 'node:net'

/** Returns an IPv4 address as it is; of an IPv6 address its /64, which one customer has whole; mapped IPv4 as IPv4. */
export function loginAddress(ip: string): string {
  const address = ip.replace(/%.*$/, '')
  if (!isIPv6(address)) return ip
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  // The parser writes every form of an address in one way, with hexadecimal groups only.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const before = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return `${groups.slice(0, 4).join(':')}::/64`
}
