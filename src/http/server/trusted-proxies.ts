/** The proxies whose `X-Forwarded-*` headers count (contract section 1, `TRUST_PROXY`). */
import { BlockList, isIP } from 'node:net'

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/**
 * Returns whether an address is a trusted proxy. The rule is a number of hops, or addresses and CIDR ranges. Fastify's
 * own list takes no range of all addresses: with `0.0.0.0/0` the start failed, in words that name no setting.
 */
export function trustedProxies(rule: number | readonly string[]): (address: string, hop: number) => boolean {
  if (typeof rule === 'number') return (_, hop) => hop < rule
  const list = new BlockList()
  for (const one of rule) {
    const [address = '', prefix] = one.split('/')
    const family = familyOf(address)
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}
