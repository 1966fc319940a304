/** Greenroom's goals, beside the figures of the same run. */

import { allCases } from '../cases/all.ts'
import { allContenders } from '../contenders/all.ts'
import type { Column } from '../runner/case.ts'
import type { Keeps } from '../runner/contender.ts'
import { median, table } from './figures.ts'
import type { Results } from './results.ts'
import { valuesOf } from './tables.ts'

type Goal = {
  readonly what: string
  readonly caseName: string
  readonly column: Omit<Column, 'title'>
  /** The row that must meet the goal. */
  readonly row: string
  readonly most?: number
  readonly least?: number
  /** The contenders listed beside it; none by default. */
  readonly beside?: 'stateless' | 'stored' | 'all'
}

const stateless = { row: 'greenroom-stateless', beside: 'stateless' } as const
const stored = { row: 'greenroom-session', beside: 'stored' } as const
const timesRaw = { row: 'raw', how: 'ratio' } as const

/**
 * Ratios to raw in the same turn, since absolute figures move with the machine's hour. Two that have no such ratio are in
 * their own unit.
 */
const goals: readonly Goal[] = [
  {
    what: 'session, short replies/s',
    ...stored,
    least: 0.15,
    caseName: 'short',
    column: { key: 'perSecond', digits: 3, against: timesRaw },
  },
  {
    what: 'session, added time to first token, less two bare commits',
    row: 'session less two commits',
    most: 6,
    caseName: 'first-token',
    column: { key: 'addedMs', against: timesRaw },
  },
  {
    what: '… of the fifth message',
    row: 'session less two commits, fifth message',
    most: 6,
    caseName: 'first-token',
    column: { key: 'addedMs', against: timesRaw },
  },
  {
    what: 'session, p50 of a token at 200',
    ...stored,
    most: 6,
    caseName: 'paced-200',
    column: { key: 'p50Ms', against: timesRaw },
  },
  {
    what: 'session, p99 of a token at 200',
    ...stored,
    most: 5,
    caseName: 'paced-200',
    column: { key: 'p99Ms', against: timesRaw },
  },
  {
    what: 'session, CPU a token at 200',
    ...stored,
    most: 2.1,
    caseName: 'paced-200',
    column: { key: 'cpuUs', digits: 2, against: timesRaw },
  },
  {
    what: 'its PostgreSQL, on top',
    ...stored,
    most: 0.7,
    caseName: 'paced-200',
    column: { key: 'postgresUs', digits: 2, against: { ...timesRaw, key: 'cpuUs' } },
  },
  {
    what: 'session, a reply at 500 paced',
    ...stored,
    most: 1.06,
    caseName: 'paced-500',
    column: { key: 'replyS', digits: 3, against: timesRaw },
  },
  {
    what: 'session, a reply at 1,000 paced, 25 tokens a second each',
    ...stored,
    most: 1.1,
    caseName: 'paced-1000',
    column: { key: 'replyS', digits: 3, against: timesRaw },
  },
  {
    what: 'stateless, CPU a token at 200',
    ...stateless,
    most: 1.7,
    caseName: 'paced-200',
    column: { key: 'cpuUs', digits: 2, against: timesRaw },
  },
  {
    what: 'stateless, most tokens/s',
    ...stateless,
    least: 0.65,
    caseName: 'throughput',
    column: { key: 'perSecond', digits: 3, against: timesRaw },
  },
  {
    what: 'stateless, short replies/s',
    ...stateless,
    least: 0.35,
    caseName: 'short',
    column: { key: 'perSecond', digits: 3, against: timesRaw },
  },
  {
    what: 'stateless, added time to first token',
    row: 'stateless',
    most: 2.1,
    caseName: 'first-token',
    column: { key: 'addedMs', against: timesRaw },
  },
  {
    what: 'stateless, p99 of a token at 200',
    ...stateless,
    most: 2,
    caseName: 'paced-200',
    column: { key: 'p99Ms', against: timesRaw },
  },
  {
    what: 'AI SDK stream, CPU a token at 200, to a session’s',
    row: 'greenroom-ai-sdk',
    beside: 'stored',
    most: 1.2,
    caseName: 'paced-200',
    column: { key: 'cpuUs', digits: 2, against: { row: 'greenroom-session', how: 'ratio' } },
  },
  {
    what: 'client secret instead of the deploy key, time to first token, ms more',
    row: 'client secret',
    most: 0.1,
    caseName: 'secrets',
    column: { key: 'firstMs', digits: 3, against: { row: 'deploy key', how: 'minus' } },
  },
  {
    what: 'client secret instead of the deploy key, CPU µs a token more',
    row: 'client secret',
    most: 1,
    caseName: 'secrets',
    column: { key: 'cpuUs', digits: 2, against: { row: 'deploy key', how: 'minus' } },
  },
  {
    what: 'requests of models kept, CPU µs a token more',
    row: 'TRACE_REQUESTS=on',
    most: 2,
    caseName: 'traces',
    column: { key: 'cpuUs', digits: 2, against: { row: 'TRACE_REQUESTS=off', how: 'minus' } },
  },
  {
    what: 'p99 of a token beside an upload of 10 MiB a second',
    row: 'one upload',
    most: 1.5,
    caseName: 'uploads',
    column: { key: 'p99Ms', digits: 2, against: { row: 'alone', how: 'ratio' } },
  },
  {
    what: 'memory 15 s after load without PostgreSQL, MB',
    row: 'greenroom-session',
    beside: 'all',
    most: 250,
    caseName: 'memory',
    column: { key: 'memoryMb', digits: 0 },
  },
  {
    what: 'a reply at 1,000,000 sessions, to one at 1,000',
    row: '1,000,000 sessions',
    most: 1.1,
    caseName: 'growth',
    column: { key: 'allUs', digits: 2, against: { row: '1,000 sessions', how: 'ratio' } },
  },
]

const keepsOf: { [beside: string]: readonly Keeps[] } = {
  stateless: ['nothing'],
  stored: ['stream', 'thread'],
  all: ['nothing', 'stream', 'thread'],
}

/** Returns null when it is not measured. */
function measured(results: Results, goal: Goal, row: string): number | null {
  const result = results.cases[goal.caseName]
  const values = result ? valuesOf(result, row, goal.column) : []
  return values.length > 0 ? median(values) : null
}

export function goalsTable(results: Results): string {
  const others = allContenders([]).filter(({ name }) => name !== 'direct')
  const measuredOnes = others.filter(({ name }) =>
    allCases.some((one) => results.cases[one.name]?.rows[name] !== undefined),
  )
  const rows = goals.map((goal) => {
    const show = (value: number | null) =>
      value === null ? '' : value.toLocaleString('en', { maximumFractionDigits: goal.column.digits ?? 1 })
    const beside = measuredOnes.map(({ name, keeps }) => {
      // The raw pass-through is the limit for all; its ratio to itself is 1.
      const isBeside = goal.beside && (keepsOf[goal.beside]?.includes(keeps) || name === 'raw')
      return isBeside ? show(measured(results, goal, name)) : ''
    })
    const own = measured(results, goal, goal.row)
    const wanted = goal.most === undefined ? `≥ ${show(goal.least ?? 0)}` : `≤ ${show(goal.most)}`
    const isReached =
      own !== null && own <= (goal.most ?? Number.POSITIVE_INFINITY) && own >= (goal.least ?? Number.NEGATIVE_INFINITY)
    return [goal.what, ...beside, show(own), wanted, own === null ? 'not measured' : isReached ? 'yes' : '**no**']
  })
  return table(['', ...measuredOnes.map(({ title }) => title), 'Greenroom', 'goal', 'reached'], rows)
}
