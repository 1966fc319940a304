/** Why a reply has no first word yet: a provider call that failed and is made again. */
import { Text } from '@mantine/core'
import { useTrace } from './use-trace.ts'
import { waitingWords } from './words.ts'

export default function Waiting({ messageId }: { messageId: string }) {
  const { trace } = useTrace(messageId, true)
  const words = trace && waitingWords(trace.spans)
  return (
    <Text fz="sm" c="dimmed" role="status">
      {words}
    </Text>
  )
}
