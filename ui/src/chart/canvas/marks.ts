/** The marks of an actor in the chart's picture. */
import type { ReactNode } from 'react'
import type { Layout } from '../layout/layout.ts'
import { isActive, type Tone, toneOf } from '../machine.ts'
import type { Step } from '../step.ts'

export interface StateMark {
  /** The actor is here, or in a state within. */
  lit?: boolean
  /** A word or two under the name. */
  note?: ReactNode
}
export interface TransitionMark {
  /** Taken last; another value restarts the animation. */
  taken?: number | string
  tone?: Tone
}
export interface Marks {
  states: ReadonlyMap<string, StateMark>
  transitions: ReadonlyMap<string, TransitionMark>
}

/**
 * Returns the chart with an actor in it: where it is, and how it came there. `note` is shown in the innermost state.
 */
export function actorMarks(
  layout: Layout,
  current: string | null,
  taken: { id: string; step: Step } | null,
  note?: ReactNode,
): Marks {
  const states = new Map<string, StateMark>()
  for (const { state, compound } of layout.states) {
    if (isActive(state.id, current)) states.set(state.id, { lit: true, ...(!compound && { note }) })
  }
  const transitions = new Map<string, TransitionMark>()
  if (taken) transitions.set(taken.id, { taken: taken.step.seq, tone: toneOf(taken.step.to) })
  return { states, transitions }
}
