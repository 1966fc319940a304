import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Card } from '../../blocks/card.tsx'
import { RunningDuration } from '../../blocks/running-duration.tsx'
import { plural } from '../../blocks/words.ts'
import { InstanceChip } from '../chips/instance-chip.tsx'
import { StateChip } from '../chips/state-chip.tsx'
import { isRunning } from '../machine.ts'
import { readersQuery } from '../queries.ts'
import type { ChosenSession } from '../sessions/session-in-url.ts'
import type { Step } from '../step.ts'
import styles from './live.module.css'
import { type Growth, useGrowth } from './use-growth.ts'
import type { SessionSteps } from './use-session-steps.ts'

interface LiveStateProps {
  session: ChosenSession
  status: SessionSteps['status']
  current: string | null
  /** The one that led to `current`. */
  step: Step | undefined
  /** The newest known, shown or not. */
  newest: Step | undefined
}

const connection = {
  loading: 'Connecting…',
  live: 'Live',
  reconnecting: 'Reconnecting…',
  gone: 'Gone',
  failed: 'Not connected',
} as const

export function LiveState({ session, status, current, step, newest }: LiveStateProps) {
  const growth = useGrowth(session, newest?.messageId ?? null, newest !== undefined && isRunning(newest.to))
  const grows = current !== null && isRunning(current)
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
        {grows && <Readers sessionId={session.sessionId} />}
        <dt>{grows ? 'Reply so far' : 'Newest reply'}</dt>
        <dd>{growth.characters > 0 ? plural(growth.characters, 'character') : grows ? begun(growth) : '–'}</dd>
      </dl>
      {growth.tool !== null && grows && (
        <Text fz="sm" c="dimmed" px="md" pb="xs">
          Waiting for the tool <b>{growth.tool}</b>
        </Text>
      )}
      {growth.tail !== '' && (
        <p className={styles.tail} data-grows={grows || undefined}>
          {growth.tail.length < growth.characters && '… '}
          {growth.tail}
        </p>
      )}
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

const begun = ({ thought }: Growth): string =>
  thought > 0 ? `thinking, ${plural(thought, 'character')}` : 'nothing yet'
