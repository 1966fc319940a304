import { Skeleton, Table } from '@mantine/core'
import { lazy, Suspense } from 'react'
import card from '../blocks/card.module.css'
import { Card } from '../blocks/card.tsx'
import { wholeNumber } from '../blocks/words.ts'
import { reliable } from '../shell/reliable-import.ts'
import { type Bucket, bucketsOf, sumOf } from './buckets.ts'
import type { UsageReport } from './queries.ts'
import { Tokens } from './tokens.tsx'
import classes from './usage.module.css'

const plot = reliable(() => import('./day-plot.tsx'))
const DayPlot = lazy(async () => ({ default: (await plot()).DayPlot }))

const heads = { day: 'By day', week: 'By week', month: 'By month' }
const firsts = { day: 'Day', week: 'Week of', month: 'Month' }

/** The plot, and beside it what it shows in numbers, newest first. */
export function ByDay({ report }: { report: UsageReport }) {
  const { step, buckets } = bucketsOf(report)
  const { promptTokens, completionTokens } = sumOf(buckets)
  return (
    <Card title={heads[step]} aside={<Legend />}>
      <div className={classes.beside}>
        <figure
          className={classes.plot}
          role="img"
          aria-label={`${wholeNumber(promptTokens)} input and ${wholeNumber(completionTokens)} output tokens, ${heads[step].toLowerCase()}`}
        >
          <Suspense fallback={<Skeleton h={210} />}>
            <DayPlot buckets={buckets} />
          </Suspense>
        </figure>
        <DayTable
          title={heads[step]}
          first={firsts[step]}
          buckets={buckets.filter(({ replies }) => replies > 0).toReversed()}
        />
      </div>
    </Card>
  )
}

function Legend() {
  return (
    <ul className={classes.legend} aria-label="Legend">
      <li>
        <i className={classes.dot} data-tone="prompt" aria-hidden />
        input
      </li>
      <li>
        <i className={classes.dot} data-tone="completion" aria-hidden />
        output
      </li>
    </ul>
  )
}

function DayTable({ title, first, buckets }: { title: string; first: string; buckets: Bucket[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className={classes.days} tabIndex={0} aria-label={`Numbers by ${first.toLowerCase()}`}>
      <Table className={`${card.table} ${classes.table}`} stickyHeader aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{first}</Table.Th>
            <Table.Th>Replies</Table.Th>
            <Table.Th>Tokens</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {buckets.map(({ key, label, replies, totalTokens, estimated }) => (
            <Table.Tr key={key}>
              <Table.Td>
                <time dateTime={key}>{label}</time>
              </Table.Td>
              <Table.Td>{wholeNumber(replies)}</Table.Td>
              <Table.Td>
                <Tokens count={totalTokens} estimated={estimated} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}
