/** Readers of the values of settings. Each reader throws a reason; `settings.ts` puts the setting's name before it. */
import { BlockList, isIP, isIPv6 } from 'node:net'
import { readRedisUrl } from './coordination/redis/redis-address.ts'
import { type RoleRules, readRoleRules } from './features/oidc/claims.ts'
import { readHash } from './features/users/login/password.ts'
import { isPercentEncoded } from './untrusted/percent-encoded.ts'

/** A reader of one setting's value, which is never empty. Throws an Error with the reason, without the name. */
export type Read<T> = (value: string) => T

/** A login: `password` is the plain password, or a hash in the form that `hash-password` prints. */
export interface Credential {
  username: string
  password: string
}

/** A destination that OUTBOUND_ALLOW opens. `port` is null for every port. */
export type OutboundRule =
  | { kind: 'host'; host: string; port: number | null }
  | { kind: 'range'; address: string; prefix: number; family: 'ipv4' | 'ipv6' }

export const text: Read<string> = (value) => value.trim()

export const wholeNumber =
  (min: number, max: number): Read<number> =>
  (value) => {
    const number = /^\d{1,15}$/.test(value.trim()) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    throw new Error(`${JSON.stringify(value)} is not a whole number from ${min} to ${max}`)
  }

export const oneOf =
  <const T extends readonly string[]>(...values: T): Read<T[number]> =>
  (value) => {
    const found = values.find((one) => one === value.trim())
    if (found !== undefined) return found
    throw new Error(`${JSON.stringify(value)} is none of ${values.join(', ')}`)
  }

/** Reads comma-separated values, each on its own. */
export const listOf =
  <T>(read: Read<T>): Read<T[]> =>
  (value) =>
    value.split(',').map((item) => {
      if (item.trim() === '') throw new Error('has an empty item: separate items with one comma')
      return read(item.trim())
    })

/** Reads `key=value`, several separated by commas; values are percent-encoded where they must be. */
export const keyValues: Read<Record<string, string>> = (value) => {
  const pairs = listOf((item) => {
    const [, key, encoded] = /^([^\s=]+)\s*=(.*)$/.exec(item) ?? []
    if (key === undefined || encoded === undefined) throw new Error(`${JSON.stringify(item)} is not key=value`)
    try {
      return [key, decodeURIComponent(encoded.trim())] as const
    } catch {
      throw new Error(`${JSON.stringify(item)} is not percent-encoded`)
    }
  })(value)
  return Object.fromEntries(pairs)
}

/** Reads a URL. The value may hold a password, so it is not repeated. */
export const urlOf =
  (...schemes: string[]): Read<string> =>
  (value) => {
    const url = value.trim()
    const [, scheme = '', authority = ''] = /^([a-z]+):\/\/([^/?#]+)/i.exec(url) ?? []
    if (!schemes.includes(scheme.toLowerCase()) || !URL.canParse(url)) {
      throw new Error(`is not a URL of the form ${schemes.map((one) => `${one}://…`).join(' or ')}`)
    }
    if (!isPercentEncoded(authority)) throw new Error('has a % that stands for itself: in a URL it is written %25')
    return url
  }

/** Reads the address under which browsers reach the server: host, optional port and path. It ends without a slash. */
export const publicAddress: Read<string> = (value) => {
  const url = new URL(urlOf('http', 'https')(value))
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new Error('has a scheme, a host, and perhaps a port and a path, nothing else')
  return url.href.replace(/\/+$/, '')
}

/** Reads the URL of an identity provider: https, or http on this machine. */
export const issuerUrl: Read<string> = (value) => {
  const url = new URL(urlOf('http', 'https')(value))
  const isLocal = url.hostname === 'localhost' || url.hostname === '[::1]' || url.hostname.startsWith('127.')
  if (url.protocol === 'http:' && !isLocal) throw new Error('must be https; http only to a loopback host')
  if (/[?#]/.test(value) || url.username !== '' || url.password !== '')
    throw new Error('has a scheme, a host, and perhaps a port and a path, nothing else')
  return value.trim()
}

/** Reads which claim gives which role, beside its text. */
export const roleRules: Read<{ text: string; rules: RoleRules }> = (value) => ({
  text: value.trim(),
  rules: readRoleRules(value.trim()),
})

/** Reads scopes, separated by spaces. */
export const oidcScopes: Read<string> = (value) => {
  const scopes = value.trim().split(/\s+/)
  if (!scopes.includes('openid')) throw new Error('must contain openid')
  return scopes.join(' ')
}

/** Reads the URL of a proxy; without a scheme it is http. The value may hold a password, so it is not repeated. */
export const proxyUrl: Read<string> = (value) => {
  const given = value.trim()
  const url = URL.parse(given.includes('://') ? given : `http://${given}`)
  if (url !== null && url.hostname !== '' && /^https?:$/.test(url.protocol)) return url.href
  throw new Error('is not a URL of the form http://… or https://…')
}

const postgresUrl = urlOf('postgres', 'postgresql')

const rawPassword =
  'its user or password has a character that ends it: @ is written %40, / %2F, ? %3F, # %23, and % itself %25'

/**
 * Reads the URL of a database. Several hosts with ports are one of PostgreSQL's own forms, which no URL parser takes: each
 * is looked at alone.
 */
export const databaseUrl: Read<string> = (value) => {
  const url = value.trim()
  const [, authority = '', path = ''] = /^[a-z]+:\/\/([^/?#]*)([^?]*)/i.exec(url) ?? []
  if (authority.split('@').length > 2 || path.includes('@') || !isPercentEncoded(authority + path))
    throw new Error(rawPassword)
  const [, begin = url, hosts = '', end = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]+)(.*)$/i.exec(url) ?? []
  for (const host of hosts.split(',')) {
    try {
      postgresUrl(begin + host + end)
    } catch (error) {
      throw end.startsWith('?') && end.includes('@') ? new Error(rawPassword) : error
    }
  }
  return url
}

/** Reads a URL of Redis or Valkey, in one of its three forms. The value may hold a password, so it is not repeated. */
export const cacheUrl: Read<string> = (value) => {
  readRedisUrl(value)
  return value.trim()
}

/** Reads a key that can be sent in an Authorization header. */
export const bearerKey: Read<string> = (value) => {
  if (/^[\x21-\x7e]+$/.test(value.trim())) return value.trim()
  throw new Error('may hold visible ASCII characters only, no spaces')
}

/** Reads an address to listen on. */
export const listenHost: Read<string> = (value) => {
  const host = value.trim()
  if (isIP(host) || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) return host
  throw new Error(`${JSON.stringify(value)} is neither an IP address nor a host name`)
}

/** Reads a name as it stands in a Host header: lower case, punycode, no port. */
export const hostName: Read<string> = (value) => {
  const url = URL.parse(`http://${value}`)
  if (url && url.href === `http://${url.hostname}/` && /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/.test(url.hostname)) {
    return url.hostname
  }
  throw new Error(`${JSON.stringify(value)} is not a host name (no scheme, port or path)`)
}

function range(value: string): Extract<OutboundRule, { kind: 'range' }> | null {
  const [address = '', bits, ...rest] = value.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return null
  const longest = family === 6 ? 128 : 32
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= longest)) {
    throw new Error(`${JSON.stringify(value)} is not a range: the prefix goes from 0 to ${longest}`)
  }
  const rule = { address, prefix: Number(bits ?? longest), family: family === 6 ? 'ipv6' : 'ipv4' } as const
  new BlockList().addSubnet(rule.address, rule.prefix, rule.family) // throws what the two checks above missed
  return { kind: 'range', ...rule }
}

/** Reads a number of hops, or addresses and CIDR ranges. */
export const trustProxy: Read<number | string[]> = (value) => {
  if (/^\s*\d+\s*$/.test(value)) return wholeNumber(0, 100)(value)
  return listOf((item) => {
    if (range(item)) return item
    throw new Error(`${JSON.stringify(item)} is neither a number of hops nor an IP address or CIDR range`)
  })(value)
}

/** Reads a CIDR range, an address, a host or `host:port`. */
export const outboundRule: Read<OutboundRule> = (value) => {
  const asRange = range(value)
  if (asRange) return asRange
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(value) ?? []
  const reason = new Error(`${JSON.stringify(value)} is none of: host, host:port, IP address, CIDR range`)
  if (host === '' || (host.startsWith('[') && !isIPv6(host.slice(1, -1)))) throw reason
  try {
    return { kind: 'host', host: hostName(host), port: port === undefined ? null : wholeNumber(1, 65_535)(port) }
  } catch {
    throw reason
  }
}

/** Reads `name:password`, several separated by commas. Passwords are never repeated in a reason. */
export const credentials: Read<Credential[]> = (value) => {
  const names = new Set<string>()
  return value.split(',').map((entry, index) => {
    const colon = entry.indexOf(':')
    const username = entry.slice(0, Math.max(colon, 0)).trim()
    const password = entry.slice(colon + 1)
    const place = `entry ${index + 1}`
    if (username === '' || password === '') throw new Error(`${place} is not of the form username:password`)
    // At the end of a password it is what `echo` has put into a Kubernetes Secret: no login would ever fit.
    if (/\p{Cc}/u.test(username + password)) throw new Error(`${place} has a control character, such as a line break`)
    if (names.has(username)) throw new Error(`${place} names ${JSON.stringify(username)} a second time`)
    names.add(username)
    if (/^(?:\$(?:2[abxy]?|argon2\w*|apr1|[156])\$|\{SS?HA\d*\})/.test(password))
      throw new Error(
        `${place} has a hash of another program, which would be the password itself: npm run hash-password`,
      )
    if (password.startsWith('scrypt:')) {
      try {
        readHash(password)
      } catch (error) {
        throw new Error(`${place}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    return { username, password }
  })
}

/** A setting. */
export interface Setting<T> {
  /** The environment variable. */
  name: string
  /** A flag: the variable counts in lower case too, as other programs read it. That one wins. */
  alsoLowerCase?: true
  /** The text in the environment. Null when it is unset. */
  default: string | null
  /** Markdown for docs/settings.md. */
  meaning: string
  read: Read<T>
}

export const setting = <T>(name: string, defaultValue: string, meaning: string, read: Read<T>): Setting<T> => ({
  name,
  default: defaultValue,
  meaning,
  read,
})

export const optional = <T>(name: string, meaning: string, read: Read<T>): Setting<T | null> => ({
  name,
  default: null,
  meaning,
  read,
})

/** Makes a setting that many programs read, in both cases. */
export const shared = <T>(name: string, meaning: string, read: Read<T>): Setting<T | null> => ({
  ...optional(name, meaning, read),
  alsoLowerCase: true,
})

export const list = <T>(name: string, meaning: string, read: Read<T>): Setting<T[]> => ({
  name,
  default: '',
  meaning,
  read: listOf(read),
})
