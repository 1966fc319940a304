import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { Gone } from '../../blocks/messages/gone.tsx'
import { RunningDuration } from '../../blocks/running-duration.tsx'
import { useSilence } from '../../traces/silence/use-silence.ts'
import { Lane } from '../canvas/lane.tsx'
import { laneOf } from '../canvas/lane-bars.ts'
import classes from '../chart-page.module.css'
import { InstanceChip } from '../chips/instance-chip.tsx'
import { isRunning } from '../machine.ts'
import { isNote } from '../note-words.ts'
import { chartQuery, readersQuery } from '../queries.ts'
import { Asked } from '../reading/asked.tsx'
import { ReadingChart } from '../reading/reading-chart.tsx'
import { endOf, pastName, stateName } from '../reading/words.ts'
import { type ChosenSession, firstView } from '../sessions/session-in-url.ts'
import type { Step } from '../step.ts'
import styles from './live.module.css'
import { LiveEvents } from './live-events.tsx'
import { type SessionSteps, useSessionSteps } from './use-session-steps.ts'

export function LiveSession({ session: { sessionId } }: { session: ChosenSession }) {
  const { status, steps, known, error } = useSessionSteps(sessionId)
  const initial = useQuery(chartQuery).data?.initial ?? null
  const step = steps.findLast((one) => !isNote(one))
  const current = status === 'loading' ? null : (step?.to ?? initial)
  const runs = current !== null && isRunning(current)
  const own = steps.filter(({ messageId }) => messageId !== null && messageId === step?.messageId)
  const silence = useSilence(sessionId, own[0]?.at ?? '', runs)
  const did = laneOf(steps, step?.messageId ?? null)
  const until = runs ? {} : { until: step?.at ?? '' }
  if (status === 'gone') return <Gone noun="session" />
  return (
    <>
      <ErrorAlert error={error} mb="md" />
      <ReadingChart
        current={current}
        step={step}
        steps={steps}
        doing={did && <Lane {...did} {...until} silence={silence} />}
        asked={<Asked steps={own} messageId={step?.messageId ?? null} view={firstView} />}
      >
        <Connection status={status} />
        <span role="status">
          <b>{current === null ? '…' : stateName(current)}</b>{' '}
          {step ? (
            <>
              for <RunningDuration since={step.at} />
            </>
          ) : (
            'since it was created'
          )}
        </span>
        {step && (
          <span>
            <b>Server</b> <InstanceChip id={step.instanceId} />
          </span>
        )}
        {runs ? <Readers sessionId={sessionId} /> : <End steps={own} />}
      </ReadingChart>
      <div className={classes.below}>
        <LiveEvents steps={steps} known={known} />
      </div>
    </>
  )
}

/** The reason why the newest reply ended, and all that is known of it. */
function End({ steps }: { steps: readonly Step[] }) {
  const end = endOf(steps)
  const messageId = steps[0]?.messageId ?? null
  if (end === null || messageId === null) return null
  return (
    <span>
      <b>Ended by</b> {pastName(end.event)}
      {end.code !== null && `, code ${end.code}`} · <Link to={`/replies/${messageId}`}>Open the reply</Link>
    </span>
  )
}

const connection = {
  loading: 'Connecting…',
  live: 'Live',
  reconnecting: 'Reconnecting…',
  gone: 'Gone',
  failed: 'Not connected',
} as const

const Connection = ({ status }: { status: SessionSteps['status'] }) => (
  <span className={styles.connection} data-status={status}>
    <i aria-hidden />
    {connection[status]}
  </span>
)

/** The windows that follow the running reply, by the servers that send it to them. */
function Readers({ sessionId }: { sessionId: string }) {
  const { data } = useQuery(readersQuery(sessionId))
  if (!data || data.readers.length === 0) return null
  return (
    <span className={styles.readers} data-testid="readers">
      <b>Open windows</b>
      {data.readers.map(({ instanceId, subscribers }) => (
        <span key={instanceId} data-lit={instanceId !== data.ownerId || undefined}>
          <InstanceChip id={instanceId} /> {subscribers}
        </span>
      ))}
    </span>
  )
}
