/** Two texts as their difference: what was removed, and what was added. */
import { VisuallyHidden } from '@mantine/core'
import classes from './diff.module.css'
import { type DiffPart, diffOf } from './text-diff.ts'

interface DiffProps {
  from: string
  to: string
  /** The number of unchanged lines shown around a change. All of them by default. */
  context?: number
}

export const Diff = ({ from, to, context = Number.POSITIVE_INFINITY }: DiffProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
  <pre className={classes.diff} tabIndex={0} dir="auto">
    {inOrder(diffOf(from, to)).map(({ kind, text, at, isFirst, isLast }) => {
      if (kind === 'same') return <span key={at}>{shortened(text, isFirst ? 0 : context, isLast ? 0 : context)}</span>
      const Mark = kind === 'added' ? 'ins' : 'del'
      return (
        <Mark key={at}>
          <VisuallyHidden>{kind === 'added' ? 'Added: ' : 'Removed: '}</VisuallyHidden>
          {text}
        </Mark>
      )
    })}
  </pre>
)

const inOrder = (parts: readonly DiffPart[]) =>
  parts.map((part, at) => ({ ...part, at, isFirst: at === 0, isLast: at === parts.length - 1 }))

/** Returns the first lines of an unchanged run, which follow a change, and its last ones, before the next change. */
function shortened(text: string, first: number, last: number): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const left = lines.length - first - last
  if (left < 2) return text
  const after = last === 0 ? '' : lines.slice(-last).join('')
  return `${lines.slice(0, first).join('')}… ${left} lines are the same …\n${after}`
}
