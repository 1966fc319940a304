import { useQuery } from '@tanstack/react-query'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { Gone } from '../../blocks/messages/gone.tsx'
import { RunningDuration } from '../../blocks/running-duration.tsx'
import { SilenceActions } from '../../traces/silence/silence-actions.tsx'
import { useSilence } from '../../traces/silence/use-silence.ts'
import { Lane } from '../canvas/lane.tsx'
import { laneOf } from '../canvas/lane-bars.ts'
import classes from '../chart-page.module.css'
import { InstanceChip } from '../chips/instance-chip.tsx'
import { isRunning } from '../machine.ts'
import { isNote } from '../note-words.ts'
import { chartQuery, readersQuery, replyQuery } from '../queries.ts'
import { Answers } from '../reading/answers.tsx'
import { Asked } from '../reading/asked.tsx'
import { ReadingChart } from '../reading/reading-chart.tsx'
import { Why } from '../reading/why.tsx'
import { endOf } from '../reading/words.ts'
import { type ChosenSession, firstView } from '../sessions/session-in-url.ts'
import type { Step } from '../step.ts'
import styles from './live.module.css'
import { LiveEvents } from './live-events.tsx'
import { type SessionSteps, useSessionSteps } from './use-session-steps.ts'

export function LiveSession({ session }: { session: ChosenSession }) {
  const { sessionId } = session
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
        answers={
          current !== null && (
            <Answers
              current={current}
              since={
                step ? (
                  <>
                    for <RunningDuration since={step.at} />
                  </>
                ) : (
                  'since it was created'
                )
              }
              silence={silence}
              actions={<SilenceActions silence={silence} session={{ id: sessionId, agentId: session.agentId }} />}
              {...(own.length > 0 && { why: <NewestWhy session={session} steps={own} /> })}
            />
          )
        }
      >
        <Connection status={status} />
        {step && (
          <span>
            <b>Server</b> <InstanceChip id={step.instanceId} />
          </span>
        )}
        {runs && <Readers sessionId={sessionId} />}
      </ReadingChart>
      <div className={classes.below}>
        <LiveEvents steps={steps} known={known} />
      </div>
    </>
  )
}

/** The reason why the newest reply ended, with the words of its provider. */
function NewestWhy({ session: { agentId, sessionId }, steps }: { session: ChosenSession; steps: readonly Step[] }) {
  const messageId = steps[0]?.messageId ?? ''
  const hasFailed = endOf(steps)?.code != null
  const { data } = useQuery({ ...replyQuery(agentId, sessionId, messageId), enabled: hasFailed })
  return <Why steps={steps} error={data?.error} />
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
