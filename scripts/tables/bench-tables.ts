/**
 * Writes the figures in README.md and docs/operating/sizing.md from bench/RESULTS.jsonl, between their markers; `--check` fails
 * if they differ.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { median, table } from '../../bench/figures/figures.ts'
import { type CaseResult, type Results, readResults } from '../../bench/figures/results.ts'
import { valuesOf } from '../../bench/figures/tables.ts'
import type { Column } from '../../bench/runner/case.ts'

const markers = ['<!-- bench -->', '<!-- /bench -->'] as const

/** A figure of a case, as displayed in a cell. */
type Figure = Pick<Column, 'key' | 'digits' | 'against'> & {
  readonly of: string
  /** Overrides `digits`: 3 shows 462,293 as 462,000. */
  readonly significant?: number
}

const overDirect = { row: 'direct', how: 'minus' } as const

function caseOf(results: Results, name: string): CaseResult {
  const found = results.cases[name]
  if (!found) throw new Error(`bench/RESULTS.jsonl has no case ${name}: npm run bench -- ${name}.`)
  return found
}

/** Returns the median; '' if not measured, a dash if there is no PostgreSQL. */
function shown(results: Results, row: string, { of, key, against, significant, digits = 0 }: Figure): string {
  const values = valuesOf(caseOf(results, of), row, { key, ...(against && { against }) })
  if (values.length === 0) return ''
  const format =
    significant === undefined
      ? { minimumFractionDigits: digits, maximumFractionDigits: digits }
      : { maximumSignificantDigits: significant }
  const value = median(values)
  return key === 'postgresUs' && value === 0 ? '–' : value.toLocaleString('en', format)
}

/** Returns `A / B`, or '' if one of them was not measured. */
const pair = (results: Results, row: string, figures: readonly Figure[]): string => {
  const cells = figures.map((figure) => shown(results, row, figure))
  return cells.includes('') ? '' : cells.join(' / ')
}

type Comparison = {
  readonly what: string
  readonly rows: readonly string[]
  readonly figures: readonly Figure[]
}

const columns = ['raw', 'hand-written', 'portkey', 'ai-sdk-resumable', 'langgraph', 'mastra']
const stateless = ['raw', 'hand-written', 'portkey', 'greenroom-stateless']
const stored = ['ai-sdk-resumable', 'langgraph', 'mastra', 'greenroom-session']
/** The AI SDK does not store a reply that is not streamed. */
const storedShort = stored.filter((name) => name !== 'ai-sdk-resumable')

const comparisons: readonly Comparison[] = [
  {
    what: 'stateless: time to first token added, ms',
    rows: stateless,
    figures: [{ of: 'ttft', key: 'p50Ms', against: overDirect, digits: 2 }],
  },
  { what: 'stateless: CPU time per token, µs', rows: stateless, figures: [{ of: 'paced-200', key: 'cpuUs' }] },
  {
    what: 'stateless: maximum tokens per second',
    rows: stateless,
    figures: [{ of: 'throughput', key: 'perSecond', significant: 3 }],
  },
  {
    what: 'stored: time to first token added, ms',
    rows: stored,
    figures: [{ of: 'ttft', key: 'p50Ms', against: overDirect, digits: 1 }],
  },
  {
    what: 'stored: CPU time per token, own / its PostgreSQL, µs',
    rows: stored,
    figures: [
      { of: 'paced-200', key: 'cpuUs' },
      { of: 'paced-200', key: 'postgresUs' },
    ],
  },
  {
    what: 'stored: token latency at 200 replies, p50 / p99 ms',
    rows: stored,
    figures: [
      { of: 'paced-200', key: 'p50Ms', digits: 1 },
      { of: 'paced-200', key: 'p99Ms' },
    ],
  },
  {
    what: 'stored: maximum tokens per second',
    rows: stored,
    figures: [{ of: 'throughput', key: 'perSecond', significant: 3 }],
  },
  {
    what: 'stored: short replies per second',
    rows: storedShort,
    figures: [{ of: 'short', key: 'perSecond', significant: 3 }],
  },
  {
    what: 'memory after all of this, without PostgreSQL, MB',
    rows: [...columns, 'greenroom-session'],
    figures: [{ of: 'memory', key: 'memoryMb' }],
  },
]

/** Returns date, commit and machine of the cases in a table. */
function sourceOf(results: Results, names: readonly string[]): string {
  const cases = names.map((name) => caseOf(results, name))
  const each = (value: (one: CaseResult) => string | number) => [...new Set(cases.map(value))].join(', ')
  return (
    `Medians of ${each((one) => one.repetitions)} repetitions, ${each(({ at }) => at)}, at commit ` +
    `${each(({ commit }) => commit)}, on ${each(({ machine }) => `${machine.processors}, Node.js ${machine.node}`)}.`
  )
}

/** Returns the table of Greenroom and its alternatives. */
function comparison(results: Results): string {
  const names = [...new Set(comparisons.flatMap(({ figures }) => figures.map(({ of }) => of)))]
  const { rows } = caseOf(results, 'paced-200')
  const head = columns.map((name) => rows[name]?.title ?? name)
  const lines = comparisons.map(({ what, rows: included, figures }) => {
    const cell = (name: string) => (included.includes(name) ? pair(results, name, figures) : '')
    const own = included.includes('greenroom-stateless') ? 'greenroom-stateless' : 'greenroom-session'
    return [what, ...columns.map(cell), cell(own)]
  })
  return `${sourceOf(results, names)}\n\n${table(['', ...head, 'Greenroom'], lines)}`
}

/** Returns the table of what an instance uses, by the number of sessions that stream 50 tokens a second each. */
function sizing(results: Results): string {
  const counts = [1, 50, 200, 500]
  const names = counts.map((count) => `paced-${count}`)
  const row = (what: string, ...figures: Omit<Figure, 'of'>[]) => [
    what,
    ...names.map((of) =>
      pair(
        results,
        'greenroom-session',
        figures.map((figure) => ({ ...figure, of })),
      ),
    ),
  ]
  const lines = [
    row('instance, CPU time per token, µs', { key: 'cpuUs' }),
    row('PostgreSQL, CPU time per token, µs', { key: 'postgresUs' }),
    row('token latency, p50 / p99 ms', { key: 'p50Ms', digits: 1 }, { key: 'p99Ms', digits: 0 }),
    row('reply of 100 tokens (ideal 1.98), p50 / p99 s', { key: 'replyS', digits: 2 }, { key: 'replyP99S', digits: 1 }),
    row('instance, MB', { key: 'memoryMb' }),
    row('its PostgreSQL, MB', { key: 'postgresMb' }),
  ]
  const idle = shown(results, 'second, same folder', { of: 'start-up', key: 'memoryMb' })
  const inBursts = shown(results, 'greenroom-session', { of: 'throughput', key: 'perSecond', significant: 2 })
  const burstCost = shown(results, 'greenroom-session', { of: 'throughput', key: 'cpuUs', digits: 1 })
  return [
    sourceOf(results, [...names, 'start-up', 'throughput']),
    'Client, model, instance and database share the cores.',
    `\n\n${table(['sessions at 50 tokens per second', ...counts.map(String)], lines)}\n\n`,
    `An idle instance takes ${idle} MB. Tokens that arrive in bursts share flushes: ${burstCost} µs each, ${inBursts} a`,
    'second in total.',
  ]
    .join(' ')
    .replace(/ ?\n\n ?/g, '\n\n')
}

/** Returns null when a marker is missing. */
function withBlock(text: string, block: string): string | null {
  const start = text.indexOf(markers[0])
  const end = text.indexOf(markers[1])
  if (start < 0 || end < start) return null
  return `${text.slice(0, start + markers[0].length)}\n\n${block}\n\n${text.slice(end)}`
}

function write(file: string, block: string): boolean {
  const path = new URL(`../../${file}`, import.meta.url)
  const text = readFileSync(path, 'utf8')
  const wanted = withBlock(text, block)
  if (wanted === null) {
    console.error(`${file} lacks the markers ${markers.join(' and ')}, in this order.`)
    return false
  }
  if (wanted === text) return true
  if (argv.includes('--check')) {
    console.error(`${file}: its figures differ from bench/RESULTS.jsonl; run "npm run generate".`)
    return false
  }
  writeFileSync(path, wanted)
  return true
}

async function main(): Promise<number> {
  const results = await readResults()
  if (results === null) {
    console.error('bench/RESULTS.jsonl is missing: npm run bench.')
    return 1
  }
  const blocks = { 'README.md': comparison(results), 'docs/operating/sizing.md': sizing(results) }
  return Object.entries(blocks).every(([file, block]) => write(file, block)) ? 0 : 1
}

if (import.meta.main) exit(await main())
