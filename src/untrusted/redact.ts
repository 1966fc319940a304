/** Takes keys out of what providers say, before it is shown to anyone (contract section 3). */

const mask = '[removed]'

/** Long enough for any error message; what lies beyond is not read at all. */
const longest = 64 * 1024

/** `Bearer x`, `api_key=x`, `"token": "x"`: the name stays, the value goes. */
const named =
  /\b(bearer\s+|(?:api[-_ ]?key|key|token|secret|password|passwd|credential|signature|authorization|cookie)["']?\s*[=:]\s*["']?(?:bearer\s+|basic\s+)?)[^\s"',;&<>)}\]]+/gi

/** `sk-…`, `gsk_…` and their like, also where the vendor itself has blotted out the middle. */
const prefixed = /\b(?:sk|pk|rk|gsk|xai|hf|ghp|glpat|nvapi|tgp)[-_][\w*.…-]{6,}|\bAIza[\w-]{8,}/g

/** Candidates for tokens; `looksLikeToken` decides, since model names are long too. */
const run = /[A-Za-z0-9+/_=.~-]{20,}/g

/** A stretch of 16 letters and digits mixed, without a separator: no model name, path or UUID has one. */
const looksLikeToken = (text: string): boolean =>
  text.split(/[^A-Za-z0-9]/).some((part) => part.length >= 16 && /[0-9]/.test(part) && /[A-Za-z]/.test(part))

/**
 * Removes these secrets, in the forms in which they come back: as they are, in JSON, in a URL, in base64.
 * Secrets of one or two characters are left: they are in every word.
 */
export function clearSecrets(text: string, secrets: readonly string[]): string {
  let cleared = text.slice(0, longest)
  for (const secret of secrets) {
    if (secret.length < 3) continue
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), base64(secret)]
    for (const form of new Set(forms)) cleared = cleared.replaceAll(form, mask)
  }
  return cleared
}

const base64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '')

/** Removes whatever looks like a key, whoever it belongs to. */
export function clearKeyLike(text: string): string {
  return text
    .replace(named, `$1${mask}`)
    .replace(prefixed, mask)
    .replace(run, (found) => (looksLikeToken(found) ? mask : found))
}

/** The first `length` Unicode code points, well-formed and without U+0000. */
export function cut(text: string, length: number): string {
  const clean = text.toWellFormed().replaceAll('\0', '\ufffd')
  const points = Array.from(clean.slice(0, 2 * length + 2))
  return points.length <= length ? clean : `${points.slice(0, length - 1).join('')}…`
}
