/** The machine as it is read: one row from a message to the outcome, with what is going on. The whole machine is below it. */
import { Button } from '@mantine/core'
import { useDisclosure, useElementSize } from '@mantine/hooks'
import { IconArrowRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { ChartPicture } from '../canvas/chart-picture.tsx'
import { ChartTable } from '../canvas/chart-table.tsx'
import { actorMarks } from '../canvas/marks.ts'
import { useChart } from '../canvas/use-chart.ts'
import { toneOf, transitionTaken } from '../machine.ts'
import { chartQuery } from '../queries.ts'
import type { Step } from '../step.ts'
import { Happened, isAt, type Picked } from './happened.tsx'
import classes from './reading.module.css'
import { nextOf, stateName } from './words.ts'

interface ReadingChartProps {
  /** Innermost state of the session. Null while it is not known, or where none is chosen. */
  current: string | null
  /** The step that led there, while that is worth a look. */
  step: Step | undefined
  /** All of them: what a click shows. */
  steps: readonly Step[]
  /** The events in the state. */
  doing?: ReactNode
  /** The agents that the reply asks, as nodes. */
  asked?: ReactNode
  /** `Answers`, above the picture. */
  answers?: ReactNode
  /** The words below the picture. */
  children?: ReactNode
}

const outcomes = ['complete', 'waiting', 'error', 'cancelled'] as const

export function ReadingChart({ current, step, steps, doing, asked, answers, children }: ReadingChartProps) {
  const [picked, setPicked] = useState<Picked | null>(null)
  const keys = useArrows()
  const { data: chart } = useQuery(chartQuery)
  const next = new Set(chart && current !== null ? nextOf(chart, current).flatMap(({ targets }) => targets) : [])
  const lit = (id: string) => current === id || undefined
  const taken = step && step.to === current ? step : undefined
  const state = (id: string, inside?: ReactNode) => (
    <button
      type="button"
      className={classes.state}
      data-state={id}
      data-tone={toneOf(id)}
      data-lit={lit(id)}
      data-next={next.has(id) || undefined}
      aria-current={lit(id)}
      aria-pressed={picked?.to === id && picked.from === null}
      title={id}
      onClick={() => setPicked({ from: null, to: id })}
    >
      <span className={classes.name}>
        <i aria-hidden />
        {stateName(id)}
      </span>
      {inside}
    </button>
  )
  const arrow = (from: string, to: string, label: string) => (
    <button
      type="button"
      className={classes.arrow}
      aria-label={label}
      data-tone={taken && toneOf(taken.to)}
      data-taken={(taken && isAt(taken.from, from) && isAt(taken.to, to)) || undefined}
      onClick={() => setPicked({ from, to })}
    >
      <IconArrowRight size={20} stroke={1.7} aria-hidden />
    </button>
  )
  const isWriting = current === 'streaming.generating' || current === 'streaming.compacting'
  return (
    <div className={classes.chart}>
      <figure
        className={classes.figure}
        aria-label={`State chart; the session is ${current === null ? 'not chosen' : stateName(current).toLowerCase()}`}
      >
        {answers}
        {/* biome-ignore lint/a11y/useSemanticElements: a field set is of a form */}
        <div className={classes.row} role="group" aria-label="States" {...keys}>
          {state('idle', <span className={classes.hint}>no reply yet</span>)}
          {arrow('', 'streaming', 'From a message to writing')}
          <div className={classes.writing} data-lit={isWriting || undefined}>
            {state('streaming.generating', doing && <span className={classes.doing}>{doing}</span>)}
            {state('streaming.compacting')}
            {asked}
          </div>
          {arrow('streaming', 'streaming.settling', 'From writing to saving')}
          {state('streaming.settling', <span className={classes.hint}>stored, then shown</span>)}
          {arrow('streaming', '', 'From saving to the outcome')}
          <div className={classes.outcomes}>{outcomes.map((id) => state(id))}</div>
        </div>
        <p className={classes.rail}>
          <span aria-hidden>↺</span> the next message, or one from the queue, begins the next reply ·{' '}
          <span className={classes.key} data-key="now" aria-hidden /> now{' '}
          <span className={classes.key} data-key="next" aria-hidden /> may come next
          {current === 'deleted' && <b> · the session is deleted</b>}
        </p>
        {children && <figcaption className={classes.caption}>{children}</figcaption>}
      </figure>
      {picked && (
        <Happened key={`${picked.from} ${picked.to}`} picked={picked} steps={steps} onClose={() => setPicked(null)} />
      )}
      <Machine current={current} step={taken} />
    </div>
  )
}

/** The whole machine, one click away: every transition, as a picture where there is room for one, and as a table. */
function Machine({ current, step }: { current: string | null; step: Step | undefined }) {
  const [isOpen, { toggle }] = useDisclosure()
  const { ref, width } = useElementSize()
  const { chart, layout, form, error } = useChart(width - BORDERS_PX)
  const transition = chart && step && transitionTaken(chart.transitions, step)
  return (
    <div className={classes.machine} ref={ref}>
      <Button variant="subtle" color="gray" size="compact-sm" aria-expanded={isOpen} onClick={toggle}>
        All transitions
      </Button>
      {isOpen && (
        <>
          <ErrorAlert error={error} />
          {layout && form && (
            <ChartPicture
              layout={layout}
              form={form}
              marks={actorMarks(layout, current, transition && step ? { id: transition.id, step } : null)}
              label="The whole machine"
            />
          )}
          {chart && width > 0 && (
            <ChartTable chart={chart} current={current} taken={transition?.id ?? null} isAlone={form === null} />
          )}
        </>
      )}
    </div>
  )
}

/** Of the picture, at its left and right. */
const BORDERS_PX = 2

/** Has one stop of the tab key; arrows lead from state to state. */
function useArrows() {
  const at = useRef(0)
  const buttonsOf = (group: Element) => [...group.querySelectorAll('button')]
  const settle = (group: Element) => {
    for (const [place, button] of buttonsOf(group).entries()) button.tabIndex = place === at.current ? 0 : -1
  }
  return {
    ref: (group: HTMLElement | null) => {
      if (group) settle(group)
    },
    onFocus: ({ currentTarget, target }: { currentTarget: Element; target: Element }) => {
      const place = target instanceof HTMLButtonElement ? buttonsOf(currentTarget).indexOf(target) : -1
      if (place >= 0) at.current = place
      settle(currentTarget)
    },
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
      if (by === undefined) return
      event.preventDefault()
      event.stopPropagation()
      const buttons = buttonsOf(event.currentTarget)
      buttons[(at.current + by + buttons.length) % buttons.length]?.focus()
    },
  }
}
