/** A field of an entry: a text as a difference, another value before and after. */
import { writeExact } from '../../../src/untrusted/exact-json.ts'
import { Diff } from '../blocks/diff/diff.tsx'
import classes from './audit.module.css'

interface FieldChangeProps {
  name: string
  from: unknown
  to: unknown
}

export const FieldChange = ({ name, from, to }: FieldChangeProps) => (
  <div>
    <div className={classes.field}>{name}</div>
    <Diff from={textOf(from)} to={textOf(to)} />
  </div>
)

/** Returns a value as text. Null stands for no value: nothing is shown of it. */
const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : writeExact(value, 2)
}
