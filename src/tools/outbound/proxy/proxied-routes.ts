/**
 * Requests that go through a proxy: which ones, and whether the outbound rule lets them. The proxy resolves the name, so
 * the rule judges literal addresses and names that resolve here too, and leaves other names to the proxy (contract
 * section 35).
 */
import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { type Dispatcher, errors } from 'undici'
import { unlessAborted } from '../../../async/unless-aborted.ts'
import { type AddressRules, type Chooser, refusalOf } from '../address-rules.ts'
import { OutboundError } from '../outbound-error.ts'
import { type ProxySettings, proxyChoice } from './proxy-choice.ts'
import { type ConnectionOptions, throughProxy } from './through-proxy.ts'

type Addresses = readonly { address: string }[]

/** Lookups by chooser. They reject when the name does not resolve. */
export type LookupsWithin = Record<Chooser, (host: string, signal: AbortSignal) => Promise<Addresses>>

interface RouteOptions {
  proxies: ProxySettings
  rules: AddressRules
  lookups: LookupsWithin
  connection: ConnectionOptions
  /** The limit for connecting and for a model's lookups. Milliseconds. */
  connectMs: number
}

export interface ProxiedRoutes {
  /** Throws OutboundError for an address that may not be called. Looks at nothing that is called directly. */
  admit(url: URL, chooser: Chooser, signal: AbortSignal): Promise<void>
  /** Returns the proxy that answers for this address, and may answer for itself. Null for tunnels and direct calls. */
  answering(url: URL): string | null
  /** The interceptor that sends a request through its proxy, or directly. */
  readonly route: Dispatcher.DispatcherComposeInterceptor
  destroy(): Promise<void>
}

/** The wait for a name that an administrator chose. In a network with a proxy, names may get no answer at all. */
const ADMIN_LOOKUP_MS = 2000

/** The time for which a lookup counts: that for which an idle connection is kept. */
const FRESH_MS = 30_000

/** The routes where no proxy is set: calls pay nothing for them. */
const noRoutes: ProxiedRoutes = {
  admit: async () => {},
  answering: () => null,
  route: (dispatch) => dispatch,
  destroy: async () => {},
}

export function createProxiedRoutes({ proxies, rules, lookups, connection, connectMs }: RouteOptions): ProxiedRoutes {
  if (proxies.https === null && proxies.http === null) return noRoutes
  const proxyOf = proxyChoice(proxies)
  const dispatchers = new Map<string, Dispatcher>()
  const known = new LRUCache<string, Addresses>({ max: 1000, ttl: FRESH_MS })

  /** Returns the host's addresses. None when it does not resolve here. */
  async function addressesOf(host: string, chooser: Chooser, signal: AbortSignal): Promise<Addresses> {
    if (isIP(host) !== 0) return [{ address: host }]
    const name = `${chooser} ${host}`
    const found = known.get(name)
    if (found) return found
    const limit = AbortSignal.timeout(chooser === 'admin' ? ADMIN_LOOKUP_MS : connectMs)
    const looked = lookups[chooser](host, limit).catch((): Addresses => [])
    const addresses = await unlessAborted(looked, AbortSignal.any([signal, limit])).catch((error: unknown) => {
      if (signal.aborted) throw error
      // A model could have slow names for what the rule refuses.
      if (chooser === 'model') throw new errors.ConnectTimeoutError(`No address for ${host} in time.`)
      return []
    })
    known.set(name, addresses)
    return addresses
  }

  function dispatcherOf(proxy: string): Dispatcher {
    const open = dispatchers.get(proxy) ?? throughProxy(proxy, connection, connectMs)
    dispatchers.set(proxy, open)
    return open
  }

  return {
    async admit(url, chooser, signal) {
      if (proxyOf(url) === null) return
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
      const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
      for (const { address } of await addressesOf(host, chooser, signal)) {
        const reason = refusalOf({ host, port, address }, chooser, rules)
        // The proxy may connect to any of them.
        if (reason !== null) throw new OutboundError(`Calls to ${host} are not allowed: ${reason}.`)
      }
    },
    answering(url) {
      const proxy = url.protocol === 'http:' ? proxyOf(url) : null
      return proxy === null ? null : new URL(proxy).host
    },
    route: (dispatch) => (options, handler) => {
      const proxy = options.origin === undefined ? null : proxyOf(new URL(options.origin))
      return proxy === null ? dispatch(options, handler) : dispatcherOf(proxy).dispatch(options, handler)
    },
    async destroy() {
      await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.destroy()))
    },
  }
}
