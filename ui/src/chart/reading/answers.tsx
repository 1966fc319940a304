/** The answers that a chart is opened for: where the reply is, how long it is silent, what may come next, why it ended. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { wholeSeconds } from '../../blocks/time-words.ts'
import type { Silence } from '../../traces/silence/silence.ts'
import { isRunning, toneOf } from '../machine.ts'
import { chartQuery } from '../queries.ts'
import classes from './answers.module.css'
import { nextOf, stateName } from './words.ts'

interface AnswersProps {
  /** Innermost state of the session. */
  current: string
  /** The time for which it is there: `for 52 s`. */
  since?: ReactNode
  /** The silence of what runs now, null while it brings something. Absent for a moment of the past. */
  silence?: Silence | null
  /** The ways on from the silence. */
  actions?: ReactNode
  /** The reason of the end. Absent where the page says it elsewhere. */
  why?: ReactNode
}

export function Answers({ current, since, silence, actions, why }: AnswersProps) {
  const runs = isRunning(current)
  return (
    <dl className={classes.answers}>
      <Answer question="Now" tone={toneOf(current)} more={since} isStatus>
        {stateName(current)}
      </Answer>
      {runs && silence !== undefined && (
        <Answer
          question="Silent for"
          level={silence?.level}
          more={silence ? `given up at ${wholeSeconds(silence.limitMs)}` : 'last word under 5 s ago'}
          actions={actions}
        >
          {silence ? wholeSeconds(silence.ms) : 'Not silent'}
        </Answer>
      )}
      {why !== undefined && !runs && <Answer question="Why it ended">{why}</Answer>}
      <Answer question="May come next" isNext>
        <Next current={current} />
      </Answer>
    </dl>
  )
}

interface AnswerProps {
  question: string
  children: ReactNode
  more?: ReactNode
  actions?: ReactNode
  tone?: string
  level?: string | undefined
  isNext?: boolean
  isStatus?: boolean
}

const Answer = ({ question, children, more, actions, tone, level, isNext, isStatus }: AnswerProps) => (
  <div data-tone={tone} data-next={isNext}>
    <dt>{question}</dt>
    <dd data-level={level}>
      {isStatus ? <span role="status">{children}</span> : children}
      {more && <small>{more}</small>}
      {actions && <div className={classes.actions}>{actions}</div>}
    </dd>
  </div>
)

/** The states that may come next, each with what leads there, but for what hardly ever happens. */
function Next({ current }: { current: string }) {
  const { data: chart } = useQuery(chartQuery)
  if (chart === undefined) return null
  return (
    <ul className={classes.next}>
      {nextOf(chart, current).map(({ targets, when }) => (
        <li key={targets.join()}>
          <b>{targets.map(stateName).join(', ')}</b> {when}
        </li>
      ))}
    </ul>
  )
}
