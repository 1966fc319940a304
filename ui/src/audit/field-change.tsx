/** One field of an entry: a text as a difference, another value before and after. */
import { VisuallyHidden } from '@mantine/core'
import classes from './audit.module.css'
import { diffOf } from './text-diff.ts'

interface FieldChangeProps {
  name: string
  from: unknown
  to: unknown
}

export const FieldChange = ({ name, from, to }: FieldChangeProps) => (
  <div>
    <div className={classes.field}>{name}</div>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
    <pre className={classes.diff} tabIndex={0} dir="auto">
      {inOrder(diffOf(textOf(from), textOf(to))).map(({ kind, text, at }) => {
        if (kind === 'same') return <span key={at}>{text}</span>
        const Mark = kind === 'added' ? 'ins' : 'del'
        return (
          <Mark key={at}>
            <VisuallyHidden>{kind === 'added' ? 'Added: ' : 'Removed: '}</VisuallyHidden>
            {text}
          </Mark>
        )
      })}
    </pre>
  </div>
)

const inOrder = (parts: ReturnType<typeof diffOf>) => parts.map((part, at) => ({ ...part, at }))

/** Null stands for no value: nothing is shown of it. */
const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
