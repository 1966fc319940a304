/** A provider's error as people read it: its sentence, without keys; the raw answer apart. Pure. */
import { parseExact } from '../../../../src/untrusted/exact-json.ts'

/** Letters that keys of well-known vendors begin with, and a bearer's credential. */
const key = /\b((?:sk|pk|rk|gsk|xai|key|ghp|hf)[-_]|AIza|Bearer\s+)([\w.-]{8,})/g

/** Shortens keys to their beginning and their last four letters. */
const withoutKeys = (text: string): string =>
  text.replace(key, (_, begin: string, rest: string) => `${begin}…${rest.length > 12 ? rest.slice(-4) : ''}`)

export interface ReadableError {
  sentence: string
  /** The provider's answer, where it is more than the sentence. */
  answer: string | null
}

export function readableError(text: string): ReadableError {
  const safe = withoutKeys(text)
  const start = safe.search(/[{[]/)
  const json = start < 0 ? undefined : parsed(safe.slice(start))
  if (json === undefined) return { sentence: safe, answer: null }
  const lead = safe.slice(0, start).replace(/[\s:]+$/, '')
  const reason = sentenceIn(json)
  const sentence = [lead, reason].filter(Boolean).join(': ')
  return { sentence: sentence || 'The provider gave no reason.', answer: JSON.stringify(json, null, 2) }
}

/** Returns the value of a JSON text, whose numbers keep their digits, or undefined for one that is none. */
export function parsed(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

/** Returns the sentence in `{error: {message}}`, `{message}`, `{error: "…"}`, `{detail: "…"}`, or a list of these. */
function sentenceIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  const inner = Array.isArray(value) ? value : ['error', 'message', 'detail'].map((name) => Reflect.get(value, name))
  return inner.map(sentenceIn).find((sentence) => sentence !== '') ?? ''
}
