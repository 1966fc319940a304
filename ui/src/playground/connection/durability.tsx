/** Shows, while a reply runs, its owner, its readers, and how long before it was shown its newest frame was stored. */
import { useQuery } from '@tanstack/react-query'
import { InstanceChip } from '../../chart/chips/instance-chip.tsx'
import { readersQuery } from '../../chart/queries.ts'
import { duration } from '../../chart/words.ts'
import classes from './durability.module.css'
import type { ShownFrames } from './shown-frames.ts'

export function Durability({ sessionId, shownFrames }: { sessionId: string; shownFrames: ShownFrames }) {
  const { data, dataUpdatedAt } = useQuery({ ...readersQuery(sessionId), gcTime: 0 })
  if (!data?.ownerId) return null
  const { ownerId, readers, newest, now } = data
  // The server's clock: its answer has just arrived.
  const ahead = dataUpdatedAt - Date.parse(now)
  const shownAt = newest ? shownFrames.shownAt(newest.frame) : undefined
  const ms = newest && shownAt !== undefined ? shownAt - ahead - Date.parse(newest.storedAt) : null
  return (
    <div className={classes.strip} data-testid="durability">
      <span>
        Runs on <InstanceChip id={ownerId} />
      </span>
      {readers.length > 0 && (
        <span>read through {readers.length === 1 ? '1 instance' : `${readers.length} instances`}</span>
      )}
      {newest && (
        <span>
          frame {newest.frame} stored{ms === null ? '' : ` ${duration(Math.max(0, ms))} before it was shown`}
        </span>
      )}
    </div>
  )
}
