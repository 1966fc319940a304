/** Why a reply has no first word yet, how long that lasts, and when it is given up. */
import { Text } from '@mantine/core'
import { useNow } from '../blocks/use-now.ts'
import classes from './traces.module.css'
import { useTrace } from './use-trace.ts'
import { silenceOf, waitingWords } from './words.ts'

export default function Waiting({ messageId }: { messageId: string }) {
  const { trace } = useTrace(messageId, true)
  const now = useNow()
  if (trace === null) return null
  const retry = waitingWords(trace.spans)
  const silence = silenceOf(trace, now)
  return (
    <Text fz="sm" c="dimmed" className={classes.waiting ?? ''} data-late={silence?.isLong || undefined}>
      {retry ?? silence?.words}
    </Text>
  )
}
