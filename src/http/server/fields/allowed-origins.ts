/** The origins whose pages may call an agent's deploy API, as an administrator writes them (contract section 11). */
import { badRequest } from '../http-error.ts'

/**
 * Returns the given origins. Null is none; absent stays absent. Throws 400 for what a browser would never send as
 * `Origin`: a page of it would be refused without anybody seeing why.
 */
export function givenOrigins(given: readonly string[] | null | undefined): string[] | undefined {
  if (given == null) return given === null ? [] : undefined
  return given.map((text, index) =>
    isOrigin(text)
      ? text
      : badRequest(
          `allowedOrigins.${index}: must be scheme://host[:port] as a browser sends it: http or https, ` +
            'the host in lower case, no default port, no wildcard, nothing behind',
        ),
  )
}

function isOrigin(text: string): boolean {
  if (!/^https?:/.test(text) || text.includes('*') || !URL.canParse(text)) return false
  return new URL(text).origin === text
}
