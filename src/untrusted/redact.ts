/** Removal of secrets from third parties' text before anyone sees it (contract section 3). */

const mask = '[removed]'

/** Long enough for any error message; the rest is not read. */
const longest = 64 * 1024

/** `Bearer x`, `api_key=x`, `"token": "x"`: the name stays, the value is removed. */
const named =
  /\b(bearer\s+|(?:api[-_ ]?key|key|token|secret|password|passwd|credential|signature|authorization|cookie)["']?\s*[=:]\s*["']?(?:bearer\s+|basic\s+)?)[^\s"',;&<>)}\]]+/gi

/** `sk-…`, `gsk_…` and the like, also where the vendor has masked the middle. */
const prefixed = /\b(?:sk|pk|rk|gsk|xai|hf|ghp|glpat|nvapi|tgp)[-_][\w*.…-]{6,}|\bAIza[\w-]{8,}/g

/** Candidates for tokens; `looksLikeToken` decides, since model names are long too. */
const run = /[A-Za-z0-9+/_=.~-]{20,}/g

/** Recognizes a token: 16 or more mixed letters and digits without a separator: no model name, path or UUID has that. */
const looksLikeToken = (text: string): boolean =>
  text.split(/[^A-Za-z0-9]/).some((part) => part.length >= 16 && /[0-9]/.test(part) && /[A-Za-z]/.test(part))

/** Words in a header's name that mark its value as secret (contract section 2). */
const secretWords = /cookie|auth|key|token|secret|password|credential|signature|session/i

export const isSecretHeader = (name: string): boolean => secretWords.test(name)

/** Minimum length for a part of a header's value to count as a secret; shorter ones are ordinary words. */
const shortestPart = 6

/**
 * Recognizes the scheme before a placeholder (`Bearer {{token}}`). It is no secret: tools use the same word in their own
 * texts.
 */
const isScheme = (part: string): boolean => /^(?:bearer|digest|apikey)$/i.test(part)

/**
 * Collects the secrets in these headers: whole values, what follows the scheme (`Bearer x`), the name and password of Basic
 * authentication, cookie values, and the fixed parts around `{{placeholders}}`.
 */
export function secretsInHeaders(headers: Readonly<Record<string, string>>): string[] {
  const secrets = Object.entries(headers).flatMap(([name, value]) => {
    if (!isSecretHeader(name)) return []
    const [, scheme = '', rest = ''] = /^(\S+)\s+(.*)$/s.exec(value) ?? []
    const basic = scheme.toLowerCase() === 'basic' ? Buffer.from(rest, 'base64').toString() : ''
    const cookies =
      name.toLowerCase() === 'cookie' ? value.split(';').map((one) => one.slice(one.indexOf('=') + 1)) : []
    const parts = [rest, basic, basic.slice(basic.indexOf(':') + 1), ...cookies, ...value.split(/\{\{[^{}]*\}\}/)]
    const plain = parts.map((part) => part.trim())
    return [value, ...plain.filter((part) => part.length >= shortestPart && !isScheme(part))]
  })
  return [...new Set(secrets)]
}

/**
 * Removes these secrets in the forms in which they come back: verbatim, in JSON, in a URL or form, in base64 at any
 * offset. Secrets of one or two characters are kept: they are in every word.
 */
export function removeSecrets(text: string, secrets: readonly string[]): string {
  const forms = new Set(secrets.filter(({ length }) => length >= 3).flatMap(formsOf))
  let cleared = text
  // Longest first: one may be part of another.
  for (const form of [...forms].sort((a, b) => b.length - a.length)) cleared = cleared.replaceAll(form, mask)
  return cleared
}

/** Removes secrets from the text of an error, of which the beginning is enough. */
export const clearSecrets = (text: string, secrets: readonly string[]): string =>
  removeSecrets(text.slice(0, longest), secrets)

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const url = encodeURIComponent(secret.toWellFormed())
  const strict = url.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const encoded = [url, strict, strict.replaceAll('%20', '+')]
  const lower = encoded.map((form) => form.replace(/%../g, (code) => code.toLowerCase()))
  return [secret, json, json.replaceAll('/', '\\/'), ...encoded, ...lower, ...base64Forms(secret)]
}

/**
 * Returns the base64 forms of a secret: alone, and inside a longer text, where it may start at any of three offsets.
 */
function base64Forms(secret: string): string[] {
  const forms = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
  })
  const whole = Buffer.from(secret).toString('base64').replace(/=+$/, '')
  const long = [whole, ...forms.filter(({ length }) => length >= 8)]
  return long.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
}

/** Removes what is marked as a key: by the word before it, or by how it begins. For names, which may be long and mixed. */
export const clearMarkedKeys = (text: string): string => text.replace(named, `$1${mask}`).replace(prefixed, mask)

/** Removes anything that looks like a key, known or not. */
export const clearKeyLike = (text: string): string =>
  clearMarkedKeys(text).replace(run, (found) => (looksLikeToken(found) ? mask : found))

/** Returns the first `length` Unicode code points, well-formed and without U+0000. */
export function cut(text: string, length: number): string {
  const clean = text.toWellFormed().replaceAll('\0', '\ufffd')
  const points = Array.from(clean.slice(0, 2 * length + 2))
  return points.length <= length ? clean : `${points.slice(0, length - 1).join('')}…`
}
