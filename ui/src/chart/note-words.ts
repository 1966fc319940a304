/** Notes between a session's steps, in a few words. Pure. */
import type { Step } from './step.ts'
import { duration } from './words.ts'

export const isNote = ({ kind }: Pick<Step, 'kind'>): boolean => kind === 'note'

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null)

const afterColon = (name: string, parts: readonly (string | null)[]): string => {
  const given = parts.filter((part) => part !== null)
  return given.length === 0 ? name : `${name}: ${given.join(', ')}`
}

/** Returns the text of a note: `Attempt 1 of 3: 429, again in 2.0 s`; `Turn 1: stop`; `look: done`. */
export function noteWords({ event, detail }: Pick<Step, 'event' | 'detail'>): string {
  const { attempt, of: most, turn, name, status, code, reason, ok } = detail
  const [wait, first] = [numberIn(detail.waitMs), numberIn(detail.firstTokenMs)]
  if (event === 'attempt') {
    const failed = ok === false ? String(status ?? code ?? 'failed') : null
    const again = wait === null ? null : `again in ${duration(wait)}`
    const spoke = first === null ? null : `first token ${duration(first)}`
    return afterColon(`Attempt ${attempt}${most === undefined ? '' : ` of ${most}`}`, [failed, again, spoke])
  }
  const outcome = ok === undefined ? 'running' : ok === true ? 'done' : 'failed'
  if (event === 'tool') return afterColon(String(name), [outcome])
  const ended = reason === 'tool_calls' ? 'called tools' : reason
  return afterColon(`Turn ${turn}`, [String(code ?? ended ?? outcome)])
}
