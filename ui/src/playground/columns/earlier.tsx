/** The conversation of which a column's session will begin with a copy, until it has one. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Agent } from '../../agents/resource.ts'
import { ReadFailure } from '../../blocks/messages/when-read.tsx'
import { messageList } from '../queries.ts'
import type { MessageActions } from '../transcript/message-actions.ts'
import { createTranscript } from '../transcript/transcript.ts'
import { TranscriptView } from '../transcript/transcript-view.tsx'
import type { Origin } from './columns-in-url.ts'

const nothing: MessageActions = {
  agentId: '',
  sessionId: null,
  edit: null,
  regenerate: null,
  turnTo: null,
  fork: null,
  forkWithin: null,
  linkTo: null,
  compare: null,
}

export function Earlier({ agent, origin: { sessionId, answers } }: { agent: Agent; origin: Origin }) {
  const query = useQuery(messageList(agent.id, sessionId))
  const { data, error } = query
  const [transcript] = useState(createTranscript)
  const shown = useMemo(() => {
    const path = data?.path ?? []
    const end = answers === null ? path.length : path.findIndex(({ id }) => id === answers) + 1
    return { path: path.slice(0, end), ids: data?.ids ?? [] }
  }, [data, answers])
  return (
    <TranscriptView
      agentName={agent.name}
      agentModel={agent.model}
      stored={shown}
      checkpoints={[]}
      transcript={transcript}
      actions={nothing}
      empty={data === undefined && error && <ReadFailure error={error} query={query} />}
    />
  )
}
