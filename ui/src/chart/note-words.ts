/** Notes between a session's steps, in a few words. Pure. */
import { headlineOf } from '../blocks/messages/outcome.ts'
import type { Step } from './step.ts'
import { duration } from './words.ts'

export const isNote = ({ kind }: Pick<Step, 'kind'>): boolean => kind === 'note'

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null)

const afterColon = (name: string, parts: readonly (string | null)[]): string => {
  const given = parts.filter((part) => part !== null)
  return given.length === 0 ? name : `${name}: ${given.join(', ')}`
}

const turnEndings: Readonly<Record<string, string>> = {
  stop: 'came to its end',
  length: 'cut off at the length limit',
  content_filter: 'stopped by the content filter',
  tool_calls: 'called tools',
  cancelled: 'stopped',
}

/** Returns the text of a note: `Attempt 1 of 3: 429, again in 2.0 s`; `Turn 1: came to its end`; `look: done`. */
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
  const ended = typeof reason === 'string' ? (turnEndings[reason] ?? reason) : outcome
  return afterColon(`Turn ${turn}`, [typeof code === 'string' ? headlineOf({ code, message: '' }) : ended])
}
