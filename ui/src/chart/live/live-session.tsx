import { useMemo } from 'react'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { Gone } from '../../blocks/messages/gone.tsx'
import { RunningDuration } from '../../blocks/running-duration.tsx'
import { ChartPicture } from '../canvas/chart-picture.tsx'
import { ChartTable } from '../canvas/chart-table.tsx'
import { Lane } from '../canvas/lane.tsx'
import { laneOf } from '../canvas/lane-bars.ts'
import { actorMarks, unmarked } from '../canvas/marks.ts'
import type { LaidOutChart } from '../canvas/use-chart.ts'
import classes from '../chart-page.module.css'
import { isRunning, shortName, transitionTaken } from '../machine.ts'
import { isNote, noteWords } from '../note-words.ts'
import type { ChosenSession } from '../sessions/session-in-url.ts'
import { LiveEvents } from './live-events.tsx'
import { LiveState } from './live-state.tsx'
import { useSessionSteps } from './use-session-steps.ts'

interface LiveSessionProps {
  session: ChosenSession
  laidOut: LaidOutChart
}

export function LiveSession({ session, laidOut }: LiveSessionProps) {
  const { status, steps, known, error } = useSessionSteps(session.sessionId)
  const { chart, layout } = laidOut
  const newest = steps.at(-1)
  const step = steps.findLast((one) => !isNote(one))
  const current = status === 'loading' ? null : (step?.to ?? chart?.initial ?? null)
  const isNew = steps.length > known
  const marks = useMemo(() => {
    if (!layout || !chart) return unmarked
    const transition = step && transitionTaken(chart.transitions, step)
    const taken = transition && step && isNew ? { id: transition.id, step } : null
    const runs = step && current && isRunning(current) ? <RunningDuration since={step.at} /> : undefined
    const note = newest && runs && isNote(newest) ? noteWords(newest) : runs
    const did = shortName(current ?? '') === 'generating' ? laneOf(steps, step?.messageId ?? null) : null
    return actorMarks(layout, current, taken, did ? <Lane {...did} /> : note)
  }, [layout, chart, step, steps, newest, current, isNew])
  if (status === 'gone') return <Gone noun="session" />
  return (
    <>
      <ErrorAlert error={error} mb="md" />
      <ChartPicture
        laidOut={laidOut}
        marks={marks}
        label={`State chart; the session is in ${current ?? 'no known state'}`}
      />
      <div className={classes.beside}>
        <LiveState session={session} status={status} current={current} step={step} />
        <LiveEvents steps={steps} known={known} />
      </div>
      <ChartTable laidOut={laidOut} current={current} />
    </>
  )
}
