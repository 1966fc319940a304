/** The newest reply of the conversation: its spans, or what its model was sent. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ModelSaw } from '../../traces/model-saw.tsx'
import { Spans } from '../../traces/reply-trace.tsx'
import { messageList } from '../queries.ts'

interface LastReplyProps {
  agentId: string
  /** Undefined before the first message. */
  sessionId: string | undefined
  show: 'trace' | 'request'
  /** The turn whose request is shown. */
  turn: number
  onTurn: (turn: number) => void
  /** Shows the request of a turn. */
  onRequest: (turn: number) => void
}

export function LastReply({ agentId, sessionId, show, turn, onTurn, onRequest }: LastReplyProps) {
  const { data } = useQuery({ ...messageList(agentId, sessionId ?? ''), enabled: sessionId !== undefined })
  const reply = data?.path.findLast(({ role }) => role === 'assistant')
  if (reply === undefined || sessionId === undefined) {
    return (
      <Text fz="sm" c="dimmed">
        {show === 'trace' ? 'What the newest reply does appears here.' : 'What the model is sent appears here.'}
      </Text>
    )
  }
  if (show === 'request') return <ModelSaw messageId={reply.id} turn={turn} onTurn={onTurn} />
  const { id, status, toolCalls, error } = reply
  const isRunning = status === 'streaming'
  return <Spans key={id} reply={{ id, sessionId, isRunning, toolCalls, error }} onRequest={onRequest} />
}
