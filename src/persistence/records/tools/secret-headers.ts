/**
 * Headers of HTTP tools and MCP servers. Values of headers whose names indicate a secret are encrypted, all in one text
 * beside the others, and returned as `***` (contract section 2).
 */
import Type from 'typebox'
import { isSecretHeader } from '../../../untrusted/redact.ts'
import { decoder } from '../../stored-json.ts'
import type { Secrets } from '../access/secrets.ts'

/** The text shown in place of a secret value. */
export const hiddenValue = '***'

/** The stored form: `headers` with `***` for secret values, `secretHeaders` the encrypted values. */
export interface StoredHeaders {
  headers: Record<string, string>
  secretHeaders: string | null
}

/** Encryption context of the record: `http-tool:<id>` or `mcp-server:<id>`. */
export type HeaderContext = `${'http-tool' | 'mcp-server'}:${string}`

export { isSecretHeader }

const decodeValues = decoder('What is encrypted of headers', Type.Record(Type.String(), Type.String()))

/** Decrypts values, by name in lower case. Throws if no key decrypts them. */
export function openSecretValues(
  secrets: Pick<Secrets, 'open'>,
  context: HeaderContext,
  { secretHeaders }: StoredHeaders,
): ReadonlyMap<string, string> {
  if (secretHeaders === null) return new Map()
  return new Map(Object.entries(decodeValues(JSON.parse(secrets.open(secretHeaders, context)))))
}

/** Decrypts headers, for an outgoing call. Throws if no key decrypts them. */
export function openHeaders(
  secrets: Pick<Secrets, 'open'>,
  context: HeaderContext,
  stored: StoredHeaders,
): Record<string, string> {
  const values = openSecretValues(secrets, context, stored)
  return Object.fromEntries(
    Object.entries(stored.headers).map(([name, value]) => [name, values.get(name.toLowerCase()) ?? value]),
  )
}

/** Splits headers in plain text: secret values are encrypted. */
export function sealHeaders(
  secrets: Pick<Secrets, 'seal'>,
  context: HeaderContext,
  headers: Readonly<Record<string, string>>,
): StoredHeaders {
  const entries = Object.entries(headers)
  const secret = entries.filter(([name]) => isSecretHeader(name)).map(([name, value]) => [name.toLowerCase(), value])
  return {
    headers: Object.fromEntries(entries.map(([name, value]) => [name, isSecretHeader(name) ? hiddenValue : value])),
    secretHeaders: secret.length === 0 ? null : secrets.seal(JSON.stringify(Object.fromEntries(secret)), context),
  }
}
