/** Counts and times → how wide, how warm. Pure. */

import type { Marks, StateMark, TransitionMark } from '../canvas/marks.ts'
import { isRunning } from '../machine.ts'
import type { Traffic } from '../queries.ts'
import { duration, shortCount } from '../words.ts'

const thinnest = 1.5
const widest = 9
/** A millisecond is cool, ten minutes are as warm as it gets; logarithmic between. */
const warmestMs = 600_000

export const heatOf = (ms: number): number => Math.min(1, Math.log1p(ms) / Math.log1p(warmestMs))

export function trafficMarks({ transitions, states }: Traffic): Marks {
  const most = Math.max(1, ...transitions.map(({ count }) => count))
  return {
    transitions: new Map(
      transitions.map(({ id, count }): [string, TransitionMark] => [
        id,
        {
          width: count === 0 ? thinnest : thinnest + ((widest - thinnest) * Math.log1p(count)) / Math.log1p(most),
          count: shortCount(count),
          faint: count === 0,
        },
      ]),
    ),
    states: new Map(
      states.map(({ id, p50Ms, p95Ms }): [string, StateMark] => [
        id,
        p50Ms === null || p95Ms === null
          ? {}
          : { heat: heatOf(p50Ms), note: `${duration(p50Ms)} · ${duration(p95Ms)}` },
      ]),
    ),
  }
}

export interface Figures {
  /** That ended. */
  replies: number
  failed: number
  stopped: number
  /** From the message to the model's last word. Null when there is none. */
  p50Ms: number | null
  p95Ms: number | null
}

/** A reply ends with the transition that leaves `streaming`. */
export function figuresOf({ transitions, states }: Traffic): Figures {
  const ended = transitions.filter(({ source, target }) => isRunning(source) && !isRunning(target))
  const to = (state: string) => sum(ended.filter(({ target }) => target === state))
  const generating = states.find(({ id }) => id === 'streaming.generating')
  return {
    replies: sum(ended),
    failed: to('error'),
    stopped: to('cancelled'),
    p50Ms: generating?.p50Ms ?? null,
    p95Ms: generating?.p95Ms ?? null,
  }
}

const sum = (counted: readonly { count: number }[]): number => counted.reduce((total, { count }) => total + count, 0)
