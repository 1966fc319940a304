/** URLs that administrators choose (contract section 2: user and password inside a URL are refused). */
import { badRequest } from '../http-error.ts'

/** Throws 400 naming `field` unless the text is a whole http or https URL without user, password and fragment. */
export function checkWebAddress(field: string, text: string): void {
  // The parser alone would take `http:host`, `\` for `/` and drop blanks: then what is stored is not what is called.
  const isPlain = /^https?:\/\/[^/\\?#]/i.test(text) && !/[\s\\\p{Cc}]/u.test(text)
  if (!isPlain || !URL.canParse(text)) badRequest(`${field}: must be a URL that starts with http:// or https://`)
  const { username, password } = new URL(text)
  if (username !== '' || password !== '') badRequest(`${field}: must not hold a user or password`)
  if (text.includes('#')) badRequest(`${field}: must not have a fragment (#)`)
}

/** Returns scheme, host and port; null for no address. */
export const originOf = (text: string | null): string | null => (text === null ? null : new URL(text).origin)

/** `{{argument}}`, which a call fills in. */
const placeholder = /\{\{[^{}]*\}\}/g

/** Throws 400 as `checkWebAddress`. Places for arguments may lie in path and query only. */
export function checkToolAddress(text: string): void {
  const [origin = ''] = /^\w*:\/\/[^/\\?#]*/.exec(text) ?? []
  if (origin.includes('{')) badRequest('url: {{…}} may stand in path and query only, not in scheme, host or port')
  checkWebAddress('url', filled(text))
}

/** Returns scheme, host and port, which no argument changes. */
export const toolOrigin = (text: string): string => new URL(filled(text)).origin

const filled = (text: string): string => text.replace(placeholder, 'x')
