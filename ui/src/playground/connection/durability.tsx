/** Says, while a reply runs, which instance runs it, and through which word it is stored. */
import { useQuery } from '@tanstack/react-query'
import { useNow } from '../../blocks/use-now.ts'
import { InstanceChip } from '../../chart/chips/instance-chip.tsx'
import { readersQuery } from '../../chart/queries.ts'
import type { Transcript } from '../transcript/transcript.ts'
import classes from './durability.module.css'

interface DurabilityProps {
  sessionId: string
  transcript: Transcript
}

export function Durability({ sessionId, transcript }: DurabilityProps) {
  const { data } = useQuery({ ...readersQuery(sessionId), gcTime: 0 })
  useNow()
  if (!data?.ownerId) return null
  const { ownerId, readers } = data
  // No frame is sent that is not stored: what has been shown is what is stored.
  const words = transcript.getSnapshot().context.live?.content.match(/\S+/g)?.length ?? 0
  return (
    <div className={classes.strip} data-testid="durability">
      <span>
        Runs on <InstanceChip id={ownerId} />
      </span>
      {words > 0 && <span>Saved through word {words.toLocaleString('en')}</span>}
      {readers.length > 1 && <span>{readers.length} instances have readers</span>}
    </div>
  )
}
