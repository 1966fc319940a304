import { useMemo } from 'react'
import { ErrorAlert } from '../blocks/error-alert.tsx'
import { Gone } from '../blocks/gone.tsx'
import classes from './chart-page.module.css'
import { ChartPicture } from './chart-picture.tsx'
import { ChartTable } from './chart-table.tsx'
import { LiveEvents } from './live-events.tsx'
import { LiveState } from './live-state.tsx'
import { isRunning, transitionTaken } from './machine.ts'
import { actorMarks, unmarked } from './marks.ts'
import { isNote, noteWords } from './note-words.ts'
import { RunningDuration } from './running-duration.tsx'
import type { ChosenSession } from './session-in-url.ts'
import type { LaidOutChart } from './use-chart.ts'
import { usePaced } from './use-paced.ts'
import { useSessionSteps } from './use-session-steps.ts'

interface LiveSessionProps {
  session: ChosenSession
  laidOut: LaidOutChart
}

export function LiveSession({ session, laidOut }: LiveSessionProps) {
  const { status, steps, known, error } = useSessionSteps(session.sessionId)
  const shown = usePaced(steps, known)
  const { chart, layout } = laidOut
  const newest = steps[shown - 1]
  const step = steps.slice(0, shown).findLast((one) => !isNote(one))
  const current = status === 'loading' ? null : (step?.to ?? chart?.initial ?? null)
  const isNew = shown > known
  const marks = useMemo(() => {
    if (!layout || !chart) return unmarked
    const transition = step && transitionTaken(chart.transitions, step)
    const taken = transition && step && isNew ? { id: transition.id, step } : null
    const runs = step && current && isRunning(current) ? <RunningDuration since={step.at} /> : undefined
    const note = newest && runs && isNote(newest) ? noteWords(newest) : runs
    return actorMarks(layout, current, taken, note)
  }, [layout, chart, step, newest, current, isNew])
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
        <LiveState session={session} status={status} current={current} step={step} newest={steps.at(-1)} />
        <LiveEvents steps={steps.slice(0, shown)} known={known} />
      </div>
      <ChartTable laidOut={laidOut} current={current} />
    </>
  )
}
