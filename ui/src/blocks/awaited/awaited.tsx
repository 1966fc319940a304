/** In place of what is being read: lines and fields of the size that they will have, instead of one large slab. */
import { Skeleton } from '@mantine/core'
import classes from './awaited.module.css'

/** The number of rows that a page shows without scrolling. */
export const EXPECTED = 12

export const AwaitedLine = ({ place }: { place: number }) => (
  <Skeleton height={10} width={`${72 - ((place * 17) % 40)}%`} />
)

/** Lines of a text or a list, without a head. */
export const AwaitedLines = ({ count = EXPECTED }: { count?: number }) => (
  <div className={classes.lines} role="status" aria-label="Loading">
    {Array.from({ length: count }, (_, line) => (
      <AwaitedLine key={line} place={line} />
    ))}
  </div>
)

/** A form: labels, each with its field below. */
export const AwaitedFields = ({ count = 5 }: { count?: number }) => (
  <div className={classes.fields} role="status" aria-label="Loading">
    {Array.from({ length: count }, (_, field) => (
      <div key={field}>
        <Skeleton height={10} width={64 + ((field * 31) % 60)} />
        <Skeleton height={36} />
      </div>
    ))}
  </div>
)
