import { Title, UnstyledButton } from '@mantine/core'
import { useEffect, useRef } from 'react'
import classes from './chart-page.module.css'
import styles from './replay.module.css'
import type { Moment } from './replay-moments.ts'
import { StateChip } from './state-chip.tsx'
import { clockTime, detailWords, duration } from './words.ts'

/** Of a long replay, the moments around the present one are listed. */
const around = 60

interface ReplayStepsProps {
  moments: readonly Moment[]
  index: number
  onGo: (index: number) => void
}

export function ReplaySteps({ moments, index, onGo }: ReplayStepsProps) {
  const from = Math.max(0, index - around)
  const list = useInSight(index)
  return (
    <section className={classes.card} aria-labelledby="steps">
      <div className={classes.cardHead}>
        <Title order={2} id="steps">
          Steps
        </Title>
      </div>
      <ol ref={list} className={styles.moments} start={from}>
        {moments.slice(from, index + around).map((moment, offset) => (
          <li key={moment.id}>
            <UnstyledButton
              className={styles.moment ?? ''}
              aria-current={from + offset === index ? 'step' : undefined}
              data-future={from + offset > index || undefined}
              onClick={() => onGo(from + offset)}
            >
              <MomentWords moment={moment} before={moments[from + offset - 1]} />
            </UnstyledButton>
          </li>
        ))}
      </ol>
    </section>
  )
}

function MomentWords({ moment, before }: { moment: Moment; before: Moment | undefined }) {
  const { at, step, tool, state } = moment
  const gap = at && before?.at ? Date.parse(at) - Date.parse(before.at) : null
  const did = tool && { null: 'calls', true: 'has answered', false: 'has failed' }[`${tool.ok}`]
  const detail = step && !tool ? detailWords(step.detail).join(', ') : ''
  return (
    <>
      <span className={classes.time}>{at ? clockTime(at) : 'before'}</span>
      <span className={styles.momentWhat}>
        <span className={classes.eventName}>
          {tool ? `${tool.ok === null ? `${did} ` : ''}${tool.name}` : (step?.event ?? 'start')}
        </span>
        {tool && tool.ok !== null ? <span className={styles.gap}>{did}</span> : <StateChip id={state} />}
        {detail !== '' && <code>{detail}</code>}
      </span>
      <span className={styles.gap}>{gap !== null && `+${duration(gap)}`}</span>
    </>
  )
}

/** Scrolls the list, and nothing else, so that the present moment is seen. */
function useInSight(index: number) {
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    const box = list.current
    const current = box?.querySelector<HTMLElement>('[aria-current=step]')?.parentElement
    if (!box || !current) return
    box.scrollTop = current.offsetTop - box.offsetTop - box.clientHeight / 2 + current.clientHeight / 2
  }, [index])
  return list
}
