/** The rules by which the suite's model answers. The text is known beforehand, so that every reader can be compared with it. */

export interface Rule {
  kind: 'words' | 'fail' | 'hang' | 'call' | 'bytes'
  count: number
  gapMs: number
  /** True if words hold characters of several bytes, and those arrive in halves. */
  unicode: boolean
  call?: { name: string; arguments: string }
}

const pattern =
  /\b(?:words (?<words>\d+)(?: gap (?<gap>\d+))?(?<unicode> unicode)?|fail after (?<fail>\d+)|(?<hang>hang)|call (?<name>[\w-]+) (?<json>\{.*\})|bytes (?<bytes>\d+))/s

/** Returns the rule in a user's message; without one it is five words. */
export function ruleOf(message: string): Rule {
  const found = pattern.exec(message)?.groups ?? {}
  const rule = { kind: 'words', count: 5, gapMs: 0, unicode: false } satisfies Rule
  if (found.fail !== undefined) return { ...rule, kind: 'fail', count: Number(found.fail) }
  if (found.hang !== undefined) return { ...rule, kind: 'hang', count: 0 }
  if (found.bytes !== undefined) return { ...rule, kind: 'bytes', count: Number(found.bytes) }
  if (found.name !== undefined)
    return { ...rule, kind: 'call', count: 0, call: { name: found.name, arguments: found.json ?? '{}' } }
  const { words = '5', gap = '0', unicode } = found
  return { ...rule, count: Number(words), gapMs: Number(gap), unicode: unicode !== undefined }
}

const PIECE = 4096

/** Returns the pieces of text that the model sends for a rule. */
export function piecesOf({ kind, count, unicode }: Rule): string[] {
  if (kind === 'bytes') {
    const line = 'The quick brown fox jumps over the lazy dog. '
    const whole = line.repeat(Math.ceil(count / line.length)).slice(0, count)
    return Array.from({ length: Math.ceil(count / PIECE) }, (_, at) => whole.slice(at * PIECE, (at + 1) * PIECE))
  }
  return Array.from({ length: count }, (_, at) => (unicode ? `${at + 1}é漢😀 ` : `word${at + 1} `))
}

/** Returns the whole text that the model sends for a message. */
export const textFor = (message: string): string => piecesOf(ruleOf(message)).join('')
