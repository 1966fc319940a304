/** A stored session, step by step. */
import { Button, Group } from '@mantine/core'
import { IconPlayerTrackNext } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../../api.ts'
import { AwaitedLines } from '../../blocks/awaited/awaited.tsx'
import { EmptyState } from '../../blocks/messages/empty-state.tsx'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { Gone } from '../../blocks/messages/gone.tsx'
import { allSteps, chartQuery, messagesOf } from '../queries.ts'
import { OpenInPlayground } from '../sessions/open-in-playground.tsx'
import { type ChosenSession, useChartAddress } from '../sessions/session-in-url.ts'
import { newestSessions, SessionPicker } from '../sessions/session-picker.tsx'
import { StartOne } from '../sessions/start-one.tsx'
import { ReplayPlayer } from './replay-player.tsx'

export function Replay() {
  const { chosen, choose } = useChartAddress()
  return (
    <>
      <Group mb="md" gap="sm" wrap="nowrap">
        <SessionPicker chosen={chosen} onChoose={choose} />
        {chosen && (
          <Group ml="auto" flex="none">
            <OpenInPlayground session={chosen} />
          </Group>
        )}
      </Group>
      {chosen ? <Chosen key={chosen.sessionId} session={chosen} /> : <Unchosen onChoose={choose} />}
    </>
  )
}

function Chosen({ session }: { session: ChosenSession }) {
  const steps = useQuery(allSteps(session.sessionId))
  const messages = useQuery(messagesOf(session.agentId, session.sessionId))
  const { data: chart } = useQuery(chartQuery)
  const error = steps.error ?? messages.error
  if (error instanceof ApiError && error.status === 404) {
    return <Gone noun="session" />
  }
  if (error) return <ErrorAlert error={error} />
  if (!steps.data || !messages.data || !chart) return <AwaitedLines />
  if (steps.data.length === 0) {
    return (
      <EmptyState icon={IconPlayerTrackNext} title="Nothing to replay">
        This session has no steps yet, or they are older than the retention period.
      </EmptyState>
    )
  }
  return <ReplayPlayer steps={steps.data} messages={messages.data} initial={chart.initial} />
}

/** Offers the newest session. */
function Unchosen({ onChoose }: { onChoose: (session: ChosenSession) => void }) {
  const { data } = useQuery(newestSessions)
  const newest = data?.sessions[0]
  return (
    <EmptyState
      icon={IconPlayerTrackNext}
      title={newest || !data ? 'Choose a session' : 'No session yet'}
      action={
        newest ? (
          <Button onClick={() => onChoose({ agentId: newest.agentId, sessionId: newest.id })}>
            Replay the newest one
          </Button>
        ) : (
          data && <StartOne />
        )
      }
    >
      Step through everything a session did, forwards and backwards, next to the conversation at that moment.
    </EmptyState>
  )
}
