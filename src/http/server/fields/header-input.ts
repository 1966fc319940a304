/** Headers and addresses of HTTP tools and MCP servers as callers send them (contract section 2). */

import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import {
  type HeaderContext,
  hiddenValue,
  isSecretHeader,
  openHeaders,
  openSecretValues,
  type StoredHeaders,
  sealHeaders,
} from '../../../persistence/records/tools/secret-headers.ts'
import { badRequest } from '../http-error.ts'

/** Set by the connection itself: another value would break the request, or smuggle one in. */
const ownHeaders = new Set(
  'host content-length transfer-encoding connection keep-alive upgrade expect te trailer proxy-connection'.split(' '),
)

/** Servers take about a hundred; sealing 99,000 secret ones held the event loop for 0.5 s. */
const MOST_HEADERS = 100

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/

/** Throws 400 for what no HTTP request could carry. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  if (Object.keys(headers).length > MOST_HEADERS) badRequest(`headers: must not be more than ${MOST_HEADERS}`)
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const field = `headers.${name.slice(0, 100)}`
    const plain = name.toLowerCase()
    if (!tokenPattern.test(name)) badRequest(`${field}: is not the name of an HTTP header`)
    if (ownHeaders.has(plain)) badRequest(`${field}: is set by the server itself`)
    if (seen.has(plain)) badRequest(`${field}: is there twice (case makes no difference)`)
    if (!valuePattern.test(value)) {
      badRequest(`${field}: must hold only characters that an HTTP header can carry, no line ends among them`)
    }
    seen.add(plain)
  }
}

type Sealing = Pick<Secrets, 'seal' | 'open'>

/** Returns the headers of a new record. Null or absent when there are none. */
export function newHeaders(
  secrets: Sealing,
  context: HeaderContext,
  given: Readonly<Record<string, string>> | null | undefined,
): StoredHeaders {
  return changedHeaders(secrets, context, given ?? {}, { headers: {}, secretHeaders: null }, false)
}

/**
 * Returns the given headers in place of the stored ones; `***` keeps a stored secret, unless the record `moves` to
 * another origin: else a user who may change an address, but never saw the secret, could have it sent elsewhere. Throws
 * 400.
 */
function changedHeaders(
  secrets: Sealing,
  context: HeaderContext,
  given: Readonly<Record<string, string>>,
  stored: StoredHeaders,
  moves: boolean,
): StoredHeaders {
  checkHeaders(given)
  const keeps = Object.entries(given).some(([name, value]) => isSecretHeader(name) && value === hiddenValue)
  const kept = keeps && !moves ? storedValues(secrets, context, stored) : new Map<string, string>()
  const plain = Object.entries(given).map(([name, value]) => {
    if (!isSecretHeader(name) || value !== hiddenValue) return [name, value] as const
    if (moves) badRequest(`headers.${name}: must be sent again when url moves to another origin`)
    return [
      name,
      kept.get(name.toLowerCase()) ?? badRequest(`headers.${name}: there is no stored value to keep`),
    ] as const
  })
  return sealHeaders(secrets, context, Object.fromEntries(plain))
}

function storedValues(secrets: Sealing, context: HeaderContext, stored: StoredHeaders): ReadonlyMap<string, string> {
  try {
    return openSecretValues(secrets, context, stored)
  } catch {
    return badRequest('headers: the stored secrets cannot be decrypted; send them again')
  }
}

/** Returns what an update does to the headers. Undefined when there is nothing. Throws 400 as `changedHeaders`. */
export function updatedHeaders(
  secrets: Sealing,
  context: HeaderContext,
  given: Readonly<Record<string, string>> | null | undefined,
  stored: StoredHeaders,
  moves: boolean,
): StoredHeaders | undefined {
  if (given !== undefined) return changedHeaders(secrets, context, given ?? {}, stored, moves)
  if (moves && stored.secretHeaders !== null) {
    badRequest('headers: those with a secret must be sent again when url moves to another origin')
  }
  return undefined
}

/** Returns headers in plain text. Headers that no key opens are sent with no request: what they name does not matter. */
export function readableHeaders(
  secrets: Pick<Secrets, 'open'>,
  context: HeaderContext,
  { headers, secretHeaders }: StoredHeaders,
): Record<string, string> {
  try {
    return openHeaders(secrets, context, { headers, secretHeaders })
  } catch {
    return headers
  }
}
