/** The words of a database's address: those that Greenroom reads, and those that only other drivers know. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type ConnectionOptions, getCACertificates } from 'node:tls'

export interface Address {
  /** The address for the library, which passes the words that it does not know on to the server. */
  url: string
  /** The path of a Unix socket. */
  path: string | null
  prepare: string | null
  /** The schema that is the whole search path. */
  schema: string | null
  /** Options of TLS that the library cannot take from the address. */
  tls: Pick<ConnectionOptions, 'host' | 'ca' | 'checkServerIdentity'> | null
  /** The words that were left out, as they were written. */
  leftOut: string[]
}

/** Words of other drivers that change nothing about what is stored or who reads it. A server refuses them. */
const ofOtherDrivers = new Set([
  ...['supa', 'workaround', 'pgbouncer', 'uselibpqcompat', 'pool', 'pool_size', 'max_pool_size', 'min_pool_size'],
  ...['connection_limit', 'pool_timeout', 'socket_timeout', 'max_connection_lifetime', 'max_idle_connection_lifetime'],
  ...['pool_max_conns', 'pool_min_conns', 'pool_max_conn_lifetime', 'pool_max_conn_idle_time'],
  ...['statement_cache_size', 'statement_cache_capacity', 'prepared_statement_cache_size', 'prepareThreshold'],
  ...['tcp_user_timeout', 'tcpKeepAlive', 'channel_binding', 'gssencmode', 'sslcompression', 'sslsni'],
])
const isOfOtherDriver = (word: string): boolean => ofOtherDrivers.has(word) || word.startsWith('keepalives')

/** Reads an address. Throws one line that begins with DATABASE_URL if the file that `sslrootcert` names is unusable. */
export function readAddress(url: string): Address {
  const [, front = url, query = ''] = /^([^?]*)\?(.*)$/s.exec(url) ?? []
  const words = new URLSearchParams(query)
  const leftOut = [...new Set(words.keys())].filter(isOfOtherDriver)
  const taken = (word: string): string | null => {
    const value = words.get(word)
    words.delete(word)
    return value
  }
  for (const word of leftOut) words.delete(word)
  const schema = taken('schema') || null
  const prepare = words.get('prepare')
  const ca = certificates(taken('sslrootcert'))
  const parsed = URL.parse(front) // null for several hosts with ports, which no parser takes: the library reads those
  const host = (parsed && taken('host')) ?? decodeURIComponent(parsed?.hostname ?? '')
  const tls = tlsOptions(host.replace(/^\[|\]$/g, ''), words.get('sslmode'), ca)
  let path: string | null = null
  if (parsed && host.startsWith('/')) {
    const port = taken('port')
    path = `${host}/.s.PGSQL.${parsed.port || port || 5432}`
    parsed.hostname = 'localhost'
  }
  const address = `${parsed?.href ?? front}${words.size > 0 ? `?${words}` : ''}`
  return { url: address, path, prepare, schema, tls: path === null ? tls : null, leftOut }
}

/** Reads the authorities that `sslrootcert` names. Null where it is absent. */
function certificates(sslrootcert: string | null): Buffer | string[] | null {
  if (!sslrootcert) return null
  if (sslrootcert === 'system') return [...getCACertificates('default'), ...getCACertificates('system')]
  const line = `DATABASE_URL: sslrootcert: ${sslrootcert}`
  let pem: Buffer
  try {
    pem = readFileSync(sslrootcert)
  } catch (error) {
    throw new Error(`${line} cannot be read (${Object(error).code}).`)
  }
  try {
    new X509Certificate(pem)
  } catch {
    throw new Error(`${line} holds no certificate in PEM.`)
  }
  return pem
}

/**
 * Decides what TLS checks, as libpq does: with an authority, `require` and `verify-ca` check it and not the name. Null where
 * the library decides.
 */
function tlsOptions(host: string, sslmode: string | null, ca: Buffer | string[] | null): Address['tls'] {
  // The library would check the certificate for `localhost`.
  const named = isIP(host) === 0 ? {} : { host }
  if (ca === null) return 'host' in named && /^verify/.test(sslmode ?? '') ? named : null
  if (['disable', 'allow', 'prefer'].includes(sslmode ?? '')) return null
  const isAnyName = !Array.isArray(ca) && ['require', 'verify-ca'].includes(sslmode ?? '')
  return { ...named, ca, ...(isAnyName ? { checkServerIdentity: () => undefined } : {}) }
}
