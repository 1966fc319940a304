import { useMemo } from 'react'
import { Lane } from '../canvas/lane.tsx'
import { laneOf } from '../canvas/lane-bars.ts'
import classes from '../chart-page.module.css'
import type { Message } from '../queries.ts'
import { Answers } from '../reading/answers.tsx'
import { Asked } from '../reading/asked.tsx'
import { ReadingChart } from '../reading/reading-chart.tsx'
import { Why } from '../reading/why.tsx'
import type { Step } from '../step.ts'
import { clockTime } from '../words.ts'
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
  const moments = useMemo(() => momentsOf(steps, messages, initial), [steps, messages, initial])
  const position = useReplayPosition(moments)
  const { index } = position
  const moment = moments[index]
  const before = useMemo(() => stepsAt(steps, moment), [steps, moment])
  const seen = useMemo(() => messagesAt(moments, index, messages), [moments, index, messages])
  return (
    <>
      <ReplayControls moments={moments} position={position} />
      <ReadingChart
        current={moment?.state ?? null}
        step={moment?.step ?? undefined}
        steps={before}
        doing={moment && doingAt(before, moment)}
        asked={moment && <Asked steps={before} messageId={moment.messageId} view="replay" />}
        answers={
          moment && (
            <Answers
              current={moment.state}
              since={moment.at === null ? 'before the first message' : `at ${clockTime(moment.at)}`}
              why={
                <Why
                  steps={before.filter(({ messageId }) => messageId === moment.messageId)}
                  error={messages.find(({ id }) => id === moment.messageId)?.error}
                />
              }
            />
          )
        }
      />
      <div className={classes.beside}>
        <ReplaySteps moments={moments} index={index} onGo={position.go} />
        <ReplayTranscript seen={seen} />
      </div>
    </>
  )
}

/** Returns the steps that had been made at this moment. */
export const stepsAt = (steps: readonly Step[], moment: Moment | undefined): readonly Step[] =>
  moment?.at == null ? [] : steps.filter((step) => Date.parse(step.at) <= Date.parse(moment.at ?? ''))

/** Returns what the reply was doing up to this moment, or null if no record exists. */
export function doingAt(before: readonly Step[], { at, messageId }: Moment) {
  if (at === null) return null
  const did = laneOf(before, messageId)
  return did && <Lane {...did} until={at} />
}
