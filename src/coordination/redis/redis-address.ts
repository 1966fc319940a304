/**
 * The address of Redis or Valkey (CACHE_URL): `redis://user:password@host:6379/0`,
 * `redis+sentinel://host:26379,host/mymaster/0`, `redis+cluster://host:6379,host:6379`; `valkey` is an alias of `redis`;
 * `rediss` and `valkeys` use TLS.
 */
export interface RedisAddress {
  kind: 'single' | 'sentinel' | 'cluster'
  hosts: { host: string; port: number }[]
  username: string | null
  password: string | null
  tls: boolean
  /** The Sentinels' name of the primary. */
  name: string | null
  /** Database number; a cluster has only 0. */
  db: number
  /** `?sentinel_password=`: the Sentinels' own password. */
  sentinelPassword: string | null
}

const form = /^(?:redis|valkey)(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/?]*)@)?([^@/?]+)(?:\/([^?]*))?(?:\?(.*))?$/i

/** Throws an Error with the reason, which never repeats the password. */
export function readRedisUrl(url: string): RedisAddress {
  const [, tls, kind = 'single', user, hosts = '', path = '', query] = form.exec(url.trim()) ?? []
  if (hosts === '') throw new Error('is not a URL of the form redis://…, redis+sentinel://… or redis+cluster://…')
  const isSentinel = kind === 'sentinel'
  const parts = path.split('/').filter((part) => part !== '')
  const name = isSentinel ? (parts.shift() ?? null) : null
  const [db = '0', ...rest] = parts
  if (isSentinel && name === null) throw new Error('names no primary: redis+sentinel://host:26379/NAME')
  if (rest.length > 0 || !/^\d{1,4}$/.test(db)) throw new Error('has a path that is not a database number')
  if (kind === 'cluster' && db !== '0') throw new Error('names a database, which a cluster does not have')
  if (kind === 'single' && hosts.includes(',')) throw new Error('has several hosts: use +sentinel or +cluster')
  const [username, password] = credentialsOf(user ?? '')
  return {
    kind: kind === 'single' || isSentinel ? kind : 'cluster',
    hosts: hosts.split(',').map((host) => hostOf(host, isSentinel ? 26_379 : 6379)),
    username,
    password,
    tls: tls !== '',
    name,
    db: Number(db),
    sentinelPassword: new URLSearchParams(query).get('sentinel_password'),
  }
}

function hostOf(text: string, defaultPort: number): { host: string; port: number } {
  const url = URL.parse(`tcp://${text}`)
  if (!url || url.hostname === '') throw new Error(`${JSON.stringify(text)} is not a host`)
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? defaultPort : Number(url.port) }
}

/** Reads `user:password`, `:password` or `password`, percent-encoded. */
function credentialsOf(text: string): [username: string | null, password: string | null] {
  if (text === '') return [null, null]
  const colon = text.indexOf(':')
  const [user, password] = colon < 0 ? ['', text] : [text.slice(0, colon), text.slice(colon + 1)]
  try {
    return [decodeURIComponent(user) || null, decodeURIComponent(password) || null]
  } catch {
    throw new Error('has broken percent-encoding before the @')
  }
}
