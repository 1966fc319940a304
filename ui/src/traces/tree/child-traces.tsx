/** Follows the traces of a session that answers a call. Renders nothing: the rows are its caller's. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { type Message, messagesOf } from '../../chart/queries.ts'
import type { Span, Trace } from '../types.ts'
import { useTrace } from '../use-trace.ts'
import type { ToldReply } from './tree-rows.ts'

type OnTold = (told: ToldReply) => void

interface ChildTracesProps {
  /** The call, in the trace of the reply that makes it. */
  call: Span
  trace: Trace
  child: NonNullable<Span['child']>
  onTold: OnTold
}

/** New replies of a session whose call has no result are looked for so often. */
const LOOK_MS = 1_000

export function ChildTraces({ call: { endMs }, trace: { startedAt }, child, onTold }: ChildTracesProps) {
  const { data = [] } = useQuery({
    ...messagesOf(child.agentId, child.sessionId),
    refetchInterval: ({ state: { data: known } }) =>
      (endMs === null || known?.some(({ status }) => status === 'streaming') === true) && LOOK_MS,
  })
  const until = endMs === null ? Number.POSITIVE_INFINITY : Date.parse(startedAt) + endMs
  return data
    .filter(({ role, createdAt }) => role === 'assistant' && Date.parse(createdAt) <= until)
    .map((message) => <Follow key={message.id} message={message} onTold={onTold} />)
}

function Follow({ message, onTold }: { message: Message; onTold: OnTold }) {
  const reply = useMemo(() => {
    const { id, sessionId, status, toolCalls, error } = message
    return { id, sessionId, isRunning: status === 'streaming', toolCalls, error }
  }, [message])
  const { trace } = useTrace(reply.id, reply.isRunning)
  useEffect(() => {
    if (trace) onTold({ reply, trace })
  }, [trace, reply, onTold])
  return null
}
