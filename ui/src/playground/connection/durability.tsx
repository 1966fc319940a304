/** Says, while a reply runs, which instance runs it. */
import { useQuery } from '@tanstack/react-query'
import { InstanceChip } from '../../chart/chips/instance-chip.tsx'
import { readersQuery } from '../../chart/queries.ts'
import classes from './durability.module.css'

export function Durability({ sessionId }: { sessionId: string }) {
  const { data } = useQuery({ ...readersQuery(sessionId), gcTime: 0 })
  if (!data?.ownerId) return null
  const { ownerId, readers } = data
  return (
    <div className={classes.strip} data-testid="durability">
      <span>
        Server <InstanceChip id={ownerId} />
      </span>
      {readers.length > 1 && <span>open windows on {readers.length} servers</span>}
    </div>
  )
}
