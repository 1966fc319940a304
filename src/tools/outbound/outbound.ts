/**
 * The gate of every outbound call: providers, HTTP tools, MCP servers, web_fetch. A host is resolved once for each
 * connection, the addresses are checked, and the connection is made to a checked address (contract section 6).
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Agent, buildConnector, type Dispatcher, errors, Headers, type Response, fetch as undiciFetch } from 'undici'
import { type AddressRules, type Chooser, refusalOf } from './address-rules.ts'
import { skipInterimAnswers } from './interim-answers.ts'
import { askedBy, limitLookups } from './lookups/model-lookups.ts'
import { type CallInit, callOut, type OutboundAnswer } from './outbound-call.ts'
import { OutboundError } from './outbound-error.ts'
import { createProxiedRoutes, type ProxiedRoutes } from './proxy/proxied-routes.ts'
import type { ProxySettings } from './proxy/proxy-choice.ts'

export type { Chooser, OutboundRule } from './address-rules.ts'

const MAX_HEADER_BYTES = 64 * 1024

export interface OutboundInit {
  /**
   * The party that chose the address, which decides what is allowed. From a redirect to another origin on, the call
   * counts as a model's choice.
   */
  chosenBy: Chooser
  /** The method. GET when absent. */
  method?: string
  /** The headers, sent to the first origin only. */
  headers?: Record<string, string>
  /** The body, sent to the first origin only. */
  body?: string | Uint8Array<ArrayBuffer> | null
  signal: AbortSignal
  /** The number of redirects that are followed. When 0 or absent, the 3xx response is returned. */
  redirects?: number
  /** A flag that requires https for every hop. */
  httpsOnly?: true
  /** Headers for every origin, redirects included. They must hold nothing secret or configured. */
  plainHeaders?: Record<string, string>
  /** The user or session that the call is for: names that a model chose are looked up in turns by it. */
  of?: string
}

export interface Outbound extends AsyncDisposable {
  /**
   * Makes a call. Resolves with the response head; `url` is that of the last hop. Rejects with OutboundError, with the
   * signal's reason, or as fetch does. The only time limit is 10 s for connecting: the rest is the signal's.
   */
  fetch(url: string | URL, init: OutboundInit): Promise<Response>
  /** Makes a provider call, to an address chosen by an administrator. Follows no redirect. Rejects as `fetch` does. */
  call(url: string, init: CallInit): Promise<OutboundAnswer>
  /** Returns the current `traceparent`, for protocols that also send it in their messages. Null when traces are off. */
  traceparent(): string | null
}

/**
 * A lookup of all addresses of a host name, in the order to try them. Rejects with the system's code (ENOTFOUND, …).
 */
export type Lookup = (host: string) => Promise<readonly { address: string; family: number }[]>

export interface OutboundOptions extends AddressRules {
  /** The lookup. The system's by default. */
  lookup?: Lookup
  /** The W3C `traceparent` of the call's span; a given header of that name wins. No traces by default. */
  traceparent?: (() => string | null) | undefined
  /** The network's proxies. None by default. */
  proxies?: ProxySettings
  /**
   * A check that is made when a request, including each redirect's, is about to be written to its open socket: if it is
   * aborted then, it is not sent. When absent, nothing is checked.
   */
  beforeSend?: () => void
}

const CONNECT_MS = 10_000

/** Creates the gate. Disposing it closes all its connections, including those in use. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { policy, allow, lookup = lookupBySystem, traceparent = () => null, beforeSend = () => {} } = options
  const traced = (headers: Record<string, string>): Record<string, string> => {
    const own = traceparent()
    return own === null ? headers : { traceparent: own, ...headers }
  }
  const rules = { policy, allow }
  const lookups = { admin: lookup, model: limitLookups(lookup) }
  const { proxies = noProxies } = options
  const proxied = createProxiedRoutes({ proxies, rules, lookups, connection: connectionOptions, connectMs: CONNECT_MS })
  // A pool for each chooser: a connection allowed to an administrator is never reused for a model.
  const poolOf = (chooser: Chooser) =>
    openPool(chooser, rules, lookups[chooser]).compose(proxied.route, announced(beforeSend))
  const ways: Ways = { pools: { admin: poolOf('admin'), model: poolOf('model') }, proxied }
  return {
    fetch: async (url, init) =>
      askedBy(init.of ?? '', () =>
        follow(ways, checkedUrl(url, init), { ...init, plainHeaders: traced(init.plainHeaders ?? {}) }),
      ),
    call: async (url, init) => {
      const checked = checkedUrl(url)
      await proxied.admit(checked, 'admin', init.signal)
      const answer = await callOut(ways.pools.admin, checked, { ...init, headers: traced(init.headers) })
      const proxy = proxied.answering(checked)
      return proxy === null ? answer : { ...answer, proxy }
    },
    traceparent,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...Object.values(ways.pools), proxied].map((pool) => pool.destroy()))
    },
  }
}

const noProxies: ProxySettings = { https: null, http: null, none: null }

const connectionOptions = {
  // Callers have their own timeouts; these would abort a silent provider regardless of PROVIDER_IDLE_TIMEOUT_S.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 30_000,
  // Gateways add cookies, policies and traces of their own; the default is 16 KiB.
  maxHeaderSize: MAX_HEADER_BYTES,
}

const lookupBySystem: Lookup = (host) => systemLookup(host, { all: true, order: 'verbatim' })

/** The ways out: directly, by a pool for each chooser, or through a proxy. */
interface Ways {
  pools: Record<Chooser, Dispatcher>
  proxied: ProxiedRoutes
}

/**
 * Announces that a request goes out. It first waits for name resolution and its connection: only here is it known to go
 * out now. Both kinds of handlers, fetch's and callOut's, are plain objects that check their signal next.
 */
const announced =
  (beforeSend: () => void): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      ...handler,
      onRequestStart(controller, context) {
        beforeSend()
        handler.onRequestStart?.call(this, controller, context)
      },
    })

type LookupWithin = (host: string, signal: AbortSignal) => ReturnType<Lookup>

function openPool(chooser: Chooser, rules: AddressRules, lookup: LookupWithin): Agent {
  return new Agent({
    ...connectionOptions,
    connect(options, callback) {
      const { protocol } = options
      const host = options.hostname
      const port = Number(options.port || (protocol === 'https:' ? 443 : 80))
      const deadline = AbortSignal.timeout(CONNECT_MS)
      resolveWithin(host, lookup, deadline)
        .then((resolved) => {
          const reasons = resolved.map(({ address }) => refusalOf({ host, port, address }, chooser, rules))
          const allowed = resolved.filter((_, index) => reasons[index] === null)
          if (allowed.length === 0) {
            throw new OutboundError(`Calls to ${host} are not allowed: ${reasons[0] ?? 'it has no address'}.`)
          }
          connectTo(allowed, options, callback)
        })
        .catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null))
    },
  })
}

async function resolveWithin(host: string, lookup: LookupWithin, deadline: AbortSignal): ReturnType<Lookup> {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const tooLate = new Promise<never>((_, reject) => {
    const late = () => reject(new errors.ConnectTimeoutError(`No address for ${host} within ${CONNECT_MS / 1000} s`))
    deadline.addEventListener('abort', late, { once: true })
  })
  return Promise.race([lookup(host, deadline), tooLate])
}

/** Connects a socket. It does no lookup of its own: it gets the checked addresses and tries them in order. */
function connectTo(
  addresses: Awaited<ReturnType<Lookup>>,
  options: buildConnector.Options,
  callback: buildConnector.Callback,
): void {
  const [first] = addresses
  const connect = buildConnector({
    timeout: CONNECT_MS,
    allowH2: false, // an abort must close the socket, which in HTTP/2 is shared
    autoSelectFamily: true,
    lookup: (_host, { all }, found) => {
      if (all) found(null, [...addresses])
      else found(null, first?.address ?? '', first?.family)
    },
  })
  connect(options, (error, socket) => {
    if (socket) skipInterimAnswers(socket)
    if (error) callback(error, null)
    else callback(null, socket)
  })
}

/** Parses a URL. Throws OutboundError for one that may not be called. */
function checkedUrl(url: string | URL, { httpsOnly }: Pick<OutboundInit, 'httpsOnly'> = {}, base?: string): URL {
  const parsed = URL.parse(String(url), base)
  if (!parsed) throw new OutboundError('This is not a URL that can be called.')
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new OutboundError('Only http and https URLs can be called.')
  }
  if (httpsOnly && parsed.protocol !== 'https:') throw new OutboundError('Only https URLs can be called.')
  if (parsed.username !== '' || parsed.password !== '') {
    throw new OutboundError('URLs with a user name or password are not called.')
  }
  return parsed
}

/** Follows redirects itself: each hop is a separate call, checked like the first. */
async function follow({ pools, proxied }: Ways, first: URL, init: OutboundInit): Promise<Response> {
  const { signal, redirects = 0 } = init
  let url = first
  let method = init.method ?? 'GET'
  let { chosenBy, body = null, headers = {} } = init
  for (let followed = 0; ; followed++) {
    await proxied.admit(url, chosenBy, signal)
    const response = await undiciFetch(url, {
      method,
      headers: merged(init.plainHeaders ?? {}, headers),
      body,
      signal,
      redirect: 'manual',
      dispatcher: pools[chosenBy],
    }).catch((error: unknown) => {
      throw refusedBy(error, url) ?? error
    })
    const location = redirects > 0 ? locationOf(response) : null
    if (location === null) return response
    response.body?.cancel().catch(() => {}) // how the connection ends does not matter
    if (followed === redirects) {
      throw new OutboundError(`More than ${redirects} redirects.`, 'TOO_MANY_REDIRECTS')
    }
    const next = checkedUrl(location, init, url.href)
    if (next.origin !== url.origin) {
      // They are dropped for all further hops: a redirect back to the first origin would be the other server's choice
      // too.
      chosenBy = 'model'
      headers = {}
      body = null
    }
    const { status } = response
    if ((status === 303 && method !== 'HEAD') || (status <= 302 && method === 'POST')) {
      method = 'GET'
      body = null
      headers = withoutContentHeaders(headers)
    }
    url = next
  }
}

/**
 * Returns why fetch made no call: our own rule, or its list of ports that are never HTTP's (6000, say). Null when it
 * did.
 */
function refusedBy(error: unknown, { port }: URL): OutboundError | null {
  const cause = error instanceof Error ? error.cause : null
  if (cause instanceof OutboundError) return cause
  const isBadPort = cause instanceof Error && cause.message === 'bad port'
  return isBadPort ? new OutboundError(`Port ${port} belongs to another protocol: fetch does not call it.`) : null
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

function locationOf(response: Response): string | null {
  const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
  // Header values are read as Latin-1; servers write UTF-8 there.
  return location && Buffer.from(location, 'latin1').toString()
}

/** Merges headers. Names are case-insensitive, and the configured value wins. */
function merged(plain: Record<string, string>, configured: Record<string, string>): Headers {
  const headers = new Headers(plain)
  for (const [name, value] of Object.entries(configured)) headers.set(name, value)
  return headers
}

/** Removes the headers about a body that was dropped. */
const withoutContentHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-|^transfer-encoding$/i.test(name)))
