/** Words that stand in `WWW-Authenticate` alone (contract section 35). */

const PARAMETER = /(?:^|[\s,])(error|error_description)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi

/** Returns `error` and `error_description` of an answer of 401 or 403. Empty when it has none. */
export function challengeWords(status: number, headers: Pick<Headers, 'get'>): string {
  if (status !== 401 && status !== 403) return ''
  const header = headers.get('www-authenticate')?.slice(0, 4000) ?? ''
  const words = new Map<string, string>()
  for (const [, name = '', quoted, plain] of header.matchAll(PARAMETER)) {
    const key = name.toLowerCase()
    const value = (quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '').trim()
    if (value !== '' && !words.has(key)) words.set(key, value)
  }
  return ['error', 'error_description'].flatMap((name) => words.get(name) ?? []).join(': ')
}
