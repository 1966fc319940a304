/** A thin mark: the reply went on in another instance. */
import { Tooltip } from '@mantine/core'
import type { Message } from '../queries.ts'
import classes from './seam.module.css'

type Continuation = NonNullable<Message['continuations']>[number]

const reasons: Readonly<Record<Continuation['reason'], string>> = {
  instance_lost: 'its instance was lost',
  shutdown: 'its instance was stopped',
  database: 'the database was away',
}

export function Seam({ continuation: { offset, reason, at } }: { continuation: Continuation }) {
  const words = `Went on in another instance after ${offset} characters: ${reasons[reason]}.`
  return (
    <Tooltip label={`${words} ${new Date(at).toLocaleTimeString()}`}>
      <div className={classes.seam} role="note" aria-label={words} />
    </Tooltip>
  )
}
