import { wholeNumber } from '../../blocks/words.ts'
import { duration } from '../../chart/words.ts'
import type { ShownMessage } from '../connection/live-reply.ts'
import classes from './columns.module.css'

/** The newest reply's, in the same place in each column. */
export function ColumnFigures({ message }: { message: ShownMessage | null }) {
  const { model, usage, firstTokenMs, durationMs } = message ?? {}
  const figures = [
    ['Model', model ?? '–'],
    ['Tokens', usage ? `${usage.estimated ? '≈ ' : ''}${wholeNumber(usage.completionTokens)}` : '–'],
    ['First token', firstTokenMs == null ? '–' : duration(firstTokenMs)],
    ['Duration', durationMs == null ? '–' : duration(durationMs)],
  ]
  return (
    <dl className={classes.figures}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={value}>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
