/** Facts derived from the chart's names: which transition a step took, in which states an actor is, how states look. */
import type { ChartTransition, Step } from './step.ts'

const isWithin = (state: string, ancestor: string): boolean => state === ancestor || state.startsWith(`${ancestor}.`)

/** Returns the transition that a recorded step took: these end at compound states, steps at the innermost ones. */
export const transitionTaken = (
  transitions: readonly ChartTransition[],
  step: Pick<Step, 'from' | 'to' | 'event'>,
): ChartTransition | undefined =>
  transitions.find(
    ({ source, target, event }) => event === step.event && isWithin(step.from, source) && isWithin(step.to, target),
  )

/** Returns whether an actor is in the state: one in `streaming.settling` is in `streaming` too. */
export const isActive = (state: string, current: string | null): boolean => current !== null && isWithin(current, state)

/** Returns whether the state is within `streaming`, where the newest reply has no outcome yet. */
export const isRunning = (state: string): boolean => isWithin(state, 'streaming')

/** Shortens a name: `streaming.settling` → `settling`. */
export const shortName = (state: string): string => state.slice(state.lastIndexOf('.') + 1)

/** The colour of each state; `streaming` has that of its main activity. */
const tones = {
  idle: 'idle',
  streaming: 'busy',
  generating: 'busy',
  compacting: 'compact',
  settling: 'settle',
  waiting: 'waiting',
  complete: 'good',
  error: 'bad',
  cancelled: 'stopped',
  deleted: 'gone',
} as const
export type Tone = (typeof tones)[keyof typeof tones]

const toneOfName = new Map<string, Tone>(Object.entries(tones))

/** Returns a state's colour (`--tone-…` in chart.module.css). */
export const toneOf = (state: string): Tone => toneOfName.get(shortName(state)) ?? 'busy'
