/** Greenroom's goals, beside the figures of the same run. */

import type { Column } from './case.ts'
import { allCases } from './cases/all.ts'
import type { Keeps } from './contender.ts'
import { allContenders } from './contenders/all.ts'
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
  /** The contenders listed beside it; absent: none. */
  readonly beside?: 'stateless' | 'stored' | 'all'
}

const stateless = { row: 'greenroom-stateless', beside: 'stateless' } as const
const stored = { row: 'greenroom-session', beside: 'stored' } as const
const overDirect = { row: 'direct', how: 'minus' } as const
const ratioToRaw = { row: 'raw', how: 'ratio' } as const

export const goals: readonly Goal[] = [
  {
    what: 'stateless, added time to first token, ms',
    ...stateless,
    most: 0.9,
    caseName: 'ttft',
    column: { key: 'p50Ms', digits: 2, against: overDirect },
  },
  {
    what: 'stateless, CPU µs per token, 200 paced',
    ...stateless,
    most: 75,
    caseName: 'paced-200',
    column: { key: 'cpuUs', digits: 0 },
  },
  {
    what: 'stateless, p99 token latency at 200, ratio to raw',
    ...stateless,
    most: 2,
    caseName: 'paced-200',
    column: { key: 'p99Ms', against: ratioToRaw },
  },
  {
    what: 'stateless, maximum tokens/s',
    ...stateless,
    least: 200_000,
    caseName: 'throughput',
    column: { key: 'perSecond', digits: 0 },
  },
  {
    what: 'stateless, short replies/s',
    ...stateless,
    least: 1900,
    caseName: 'short',
    column: { key: 'perSecond', digits: 0 },
  },
  {
    what: 'session, added time to first token, ms',
    ...stored,
    most: 2,
    caseName: 'ttft',
    column: { key: 'p50Ms', digits: 2, against: overDirect },
  },
  {
    what: 'session, CPU µs per token, 200 paced',
    ...stored,
    most: 95,
    caseName: 'paced-200',
    column: { key: 'cpuUs', digits: 0 },
  },
  {
    what: 'its PostgreSQL, on top',
    ...stored,
    most: 30,
    caseName: 'paced-200',
    column: { key: 'postgresUs', digits: 0 },
  },
  {
    what: 'AI SDK stream, CPU a token at 200 paced, as ratio to the session',
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
    what: 'client secret instead of the deploy key, CPU µs per token more',
    row: 'client secret',
    most: 1,
    caseName: 'secrets',
    column: { key: 'cpuUs', digits: 2, against: { row: 'deploy key', how: 'minus' } },
  },
  {
    what: 'requests of models kept, CPU µs per token more',
    row: 'TRACE_REQUESTS=on',
    most: 2,
    caseName: 'traces',
    column: { key: 'cpuUs', digits: 2, against: { row: 'TRACE_REQUESTS=off', how: 'minus' } },
  },
  {
    what: 'session, p50 token latency at 200, ms',
    ...stored,
    most: 2,
    caseName: 'paced-200',
    column: { key: 'p50Ms' },
  },
  {
    what: 'session, p99 token latency at 200, ms',
    ...stored,
    most: 15,
    caseName: 'paced-200',
    column: { key: 'p99Ms' },
  },
  {
    what: 'session, maximum tokens/s',
    ...stored,
    least: 60_000,
    caseName: 'throughput',
    column: { key: 'perSecond', digits: 0 },
  },
  {
    what: 'session, short replies/s',
    ...stored,
    least: 600,
    caseName: 'short',
    column: { key: 'perSecond', digits: 0 },
  },
  {
    what: 'memory after load without PostgreSQL, MB',
    row: 'greenroom-session',
    beside: 'all',
    most: 350,
    caseName: 'memory',
    column: { key: 'memoryMb', digits: 0 },
  },
  {
    what: 'session, reply of 100 tokens at 500 paced, s (ideal 1.98)',
    ...stored,
    most: 2.1,
    caseName: 'paced-500',
    column: { key: 'replyS', digits: 2 },
  },
  {
    what: 'cost of a reply at 1,000,000 sessions, ratio to 1,000',
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

/** Null: not measured. */
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
