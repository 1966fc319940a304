/** Everything about one reply on one screen: facts, conversation, spans, chart, and one moment that all of them show. */
import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from 'react-router'
import { ApiError } from '../api.ts'
import { AwaitedLines } from '../blocks/awaited/awaited.tsx'
import { Gone } from '../blocks/messages/gone.tsx'
import { ReadFailure } from '../blocks/messages/when-read.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { allSteps, chartQuery, foundById, messagesOf } from '../chart/queries.ts'
import { Examined } from './examined.tsx'

export function Component() {
  const { id = '' } = useParams()
  const query = useQuery(foundById(id))
  const { data: found, error } = query
  if (found) return <Found key={id} {...found} id={id} />
  return (
    <Page title="Reply" back={back}>
      {error === null ? (
        <AwaitedLines />
      ) : error instanceof ApiError && error.status === 404 ? (
        <Gone noun="reply" />
      ) : (
        <ReadFailure error={error} query={query} />
      )}
    </Page>
  )
}

const back = { to: '/sessions', label: 'Sessions' }

interface FoundProps {
  /** The id in the address: of a reply, of a request, or of a session. */
  id: string
  agentId: string
  sessionId: string
  messageId: string | null
}

function Found({ id, agentId, sessionId, messageId }: FoundProps) {
  const messages = useQuery(messagesOf(agentId, sessionId))
  const steps = useQuery(allSteps(sessionId))
  const { data: chart } = useQuery(chartQuery)
  const replyId = messageId ?? messages.data?.findLast(({ role }) => role === 'assistant')?.id
  if (replyId !== undefined && replyId !== id) return <Navigate to={`/replies/${replyId}`} replace />
  const reply = messages.data?.find((message) => message.id === replyId)
  const failed = [messages, steps].find(({ error }) => error !== null)
  if (reply && steps.data && chart) {
    return (
      <Examined {...{ agentId, reply, messages: messages.data ?? [], initial: chart.initial }} steps={steps.data} />
    )
  }
  return (
    <Page title="Reply" back={back}>
      {failed ? (
        <ReadFailure error={failed.error} query={failed} />
      ) : messages.data && !messages.isFetching && reply === undefined ? (
        <Gone noun="reply" />
      ) : (
        <AwaitedLines />
      )}
    </Page>
  )
}
