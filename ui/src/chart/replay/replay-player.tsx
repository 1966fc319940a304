import { useMemo } from 'react'
import { Card } from '../../blocks/card.tsx'
import ReplyTrace from '../../traces/reply-trace.tsx'
import { ChartPicture } from '../canvas/chart-picture.tsx'
import { ChartTable } from '../canvas/chart-table.tsx'
import { Lane } from '../canvas/lane.tsx'
import { laneOf } from '../canvas/lane-bars.ts'
import { actorMarks } from '../canvas/marks.ts'
import { useChart } from '../canvas/use-chart.ts'
import classes from '../chart-page.module.css'
import { shortName, transitionTaken } from '../machine.ts'
import { isNote, noteWords } from '../note-words.ts'
import type { Message } from '../queries.ts'
import type { Step } from '../step.ts'
import styles from './replay.module.css'
import { ReplayControls } from './replay-controls.tsx'
import { type Moment, messagesAt, momentsOf } from './replay-moments.ts'
import { ReplaySteps } from './replay-steps.tsx'
import { ReplayTranscript } from './replay-transcript.tsx'
import { useReplayPosition } from './use-replay-position.ts'

interface ReplayPlayerProps {
  steps: Step[]
  messages: Message[]
  initial: string
}

export function ReplayPlayer({ steps, messages, initial }: ReplayPlayerProps) {
  const laidOut = useChart()
  const { chart, layout } = laidOut
  const moments = useMemo(() => momentsOf(steps, messages, initial), [steps, messages, initial])
  const position = useReplayPosition(moments)
  const { index } = position
  const moment = moments[index]
  const marks = useMemo(() => {
    if (!layout || !chart || !moment) return { states: new Map(), transitions: new Map() }
    const { state, step, tool } = moment
    const transition = step && transitionTaken(chart.transitions, step)
    const acts = tool ? `${tool.name} ${tool.ok === null ? 'runs' : tool.ok ? 'done' : 'failed'}` : undefined
    const note = step && isNote(step) ? noteWords(step) : undefined
    const does = acts ?? laneAt(steps, moment) ?? note
    return actorMarks(layout, state, transition && step ? { id: transition.id, step } : null, does)
  }, [layout, chart, moment, steps])
  const seen = useMemo(() => messagesAt(moments, index, messages), [moments, index, messages])
  const reply = moment?.messageId == null ? null : tracedReply(moment.messageId, messages)
  return (
    <>
      <ReplayControls moments={moments} position={position} />
      <ChartPicture
        laidOut={laidOut}
        marks={marks}
        label={`State chart; at this moment the session is in ${moment?.state ?? 'no known state'}`}
      />
      <div className={classes.beside}>
        <ReplaySteps moments={moments} index={index} onGo={position.go} />
        <ReplayTranscript seen={seen} />
      </div>
      {reply && (
        <div className={classes.below}>
          <Card title="The reply at this moment">
            <div className={styles.trace}>
              <ReplyTrace key={reply.id} reply={reply} />
            </div>
          </Card>
        </div>
      )}
      <ChartTable laidOut={laidOut} current={moment?.state ?? null} />
    </>
  )
}

/** Returns a reply by its trace, which is all that remains of a deleted reply. */
function tracedReply(id: string, messages: readonly Message[]) {
  const { toolCalls = [], error = null } = messages.find((one) => one.id === id) ?? {}
  return { id, isRunning: false, toolCalls, error }
}

/** Returns the activity of the reply at this moment, or null if it was not being generated or no record exists. */
function laneAt(steps: readonly Step[], { state, at, messageId }: Moment) {
  if (at === null || shortName(state) !== 'generating') return null
  const before = steps.filter((step) => Date.parse(step.at) <= Date.parse(at))
  const did = laneOf(before, messageId)
  return did && <Lane {...did} until={at} />
}
