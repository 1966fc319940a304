/** The steps between two marks of a reply. */
import type { Mark } from './marks.ts'

export const kinds = ['stateless', 'session', 'fifth message'] as const
export type Kind = (typeof kinds)[number]

/** The step that ends at a mark, by the marks' names. What comes in another order counts for the mark that comes next. */
const steps: { readonly [name: string]: string } = {
  handler: 'read, routed, credential, checked',
  call: 'agent, limits, message, tools, the model’s request',
  sent: 'undici: to its connection',
  answered: 'the model',
  chunk: 'the answer’s head',
  token: 'parsed, cleaned, written',
}

const stored: typeof steps = {
  ...steps,
  statement: 'message, its record, the group',
  rows: 'the question is committed',
  call: 'log, actor, head, history, the model’s request',
  'second statement': 'parsed, cleaned, appended, the group',
  'second rows': 'the token is committed',
  token: 'written to the client',
}

/** Returns the microseconds of each step, and their sum. */
export function stepsOf(kind: Kind, marks: readonly Mark[]): Map<string, number> {
  const names = kind === 'stateless' ? steps : stored
  const found = new Map<string, number>()
  let from = 0
  const seen = new Set<string>()
  for (const [name, us] of marks) {
    const isSecond = (name === 'statement' || name === 'rows') && seen.has('chunk')
    const step = names[isSecond ? `second ${name}` : name]
    if (step === undefined || seen.has(isSecond ? `second ${name}` : name)) continue
    seen.add(isSecond ? `second ${name}` : name)
    found.set(step, us - from)
    from = us
  }
  return found.set('all', from)
}
