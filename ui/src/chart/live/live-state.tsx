import { useQuery } from '@tanstack/react-query'
import { Card } from '../../blocks/card.tsx'
import { RunningDuration } from '../../blocks/running-duration.tsx'
import { InstanceChip } from '../chips/instance-chip.tsx'
import { StateChip } from '../chips/state-chip.tsx'
import { isRunning } from '../machine.ts'
import { readersQuery } from '../queries.ts'
import type { ChosenSession } from '../sessions/session-in-url.ts'
import type { Step } from '../step.ts'
import styles from './live.module.css'
import type { SessionSteps } from './use-session-steps.ts'

interface LiveStateProps {
  session: ChosenSession
  status: SessionSteps['status']
  current: string | null
  /** The one that led to `current`. */
  step: Step | undefined
}

const connection = {
  loading: 'Connecting…',
  live: 'Live',
  reconnecting: 'Reconnecting…',
  gone: 'Gone',
  failed: 'Not connected',
} as const

export function LiveState({ session, status, current, step }: LiveStateProps) {
  return (
    <Card
      title="Now"
      aside={
        <span className={styles.connection} data-status={status}>
          <i aria-hidden />
          {connection[status]}
        </span>
      }
    >
      <dl className={styles.facts}>
        <dt>State</dt>
        <dd>
          <span role="status">{current === null ? '…' : <StateChip id={current} />}</span>
        </dd>
        <dt>Since</dt>
        <dd>{step ? <RunningDuration since={step.at} /> : 'the session was created'}</dd>
        {step && (
          <>
            <dt>Instance</dt>
            <dd>
              <InstanceChip id={step.instanceId} />
            </dd>
          </>
        )}
        {current !== null && isRunning(current) && <Readers sessionId={session.sessionId} />}
      </dl>
    </Card>
  )
}

/** The instances through which the running reply is read. */
function Readers({ sessionId }: { sessionId: string }) {
  const { data } = useQuery(readersQuery(sessionId))
  if (!data || data.readers.length === 0) return null
  return (
    <>
      <dt>Readers, by instance</dt>
      <dd className={styles.readers} data-testid="readers">
        {data.readers.map(({ instanceId, subscribers }) => (
          <span key={instanceId} data-lit={instanceId !== data.ownerId || undefined}>
            <InstanceChip id={instanceId} /> {subscribers}
          </span>
        ))}
      </dd>
    </>
  )
}
