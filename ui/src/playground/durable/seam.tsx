/**
 * Thin lines in a reply's text, where it went on in another instance, and where this window lost it and took it up again.
 */
import { Tooltip } from '@mantine/core'
import { plural } from '../../blocks/words.ts'
import type { ShownMessage } from '../connection/live-reply.ts'
import type { Mark } from '../markdown/marks.tsx'
import type { Message } from '../queries.ts'
import classes from './seam.module.css'

type Continuation = NonNullable<Message['continuations']>[number]

const reasons: Readonly<Record<Continuation['reason'], string>> = {
  instance_lost: 'its server was lost',
  shutdown: 'its server was stopped',
  database: 'the database was away',
}

function Seam({ continuation: { offset, reason, at } }: { continuation: Continuation }) {
  const words = `Went on in another server after ${plural(offset, 'character')}: ${reasons[reason]}.`
  return (
    <Tooltip label={`${words} ${new Date(at).toLocaleTimeString()}`}>
      <span className={classes.seam} role="note" aria-label={words} />
    </Tooltip>
  )
}

const Reconnected = () => (
  <span className={classes.reconnected} role="note">
    reconnected here, nothing missing
  </span>
)

/**
 * Returns the marks of a message, in the order of their places. Offsets of seams count code points, as the server does.
 */
export function marksOf({ content, continuations = [], reconnectedAt = [] }: ShownMessage): Mark[] {
  const seams = continuations.map((one) => ({
    at: lengthOf(content, one.offset),
    key: `seam ${one.frameId}`,
    node: <Seam continuation={one} />,
  }))
  const reconnections = reconnectedAt.map((at, index) => ({
    at,
    key: `reconnected ${index}`,
    node: <Reconnected />,
  }))
  return [...seams, ...reconnections].sort((a, b) => a.at - b.at)
}

/** Returns the length of the first `points` code points, in UTF-16 units. */
function lengthOf(text: string, points: number): number {
  let at = 0
  for (let left = points; left > 0 && at < text.length; left -= 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return at
}
