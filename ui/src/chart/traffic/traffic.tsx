/** Where the traffic goes: wider edges are used more often, in warmer states sessions stay longer. */
import { Group, SegmentedControl, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import { Card } from '../../blocks/card.tsx'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { withParams } from '../../blocks/search-params.ts'
import { FiguresTable } from '../../usage/figures-table.tsx'
import { figuresQuery } from '../../usage/queries.ts'
import { ChartPicture } from '../canvas/chart-picture.tsx'
import { ChartTable } from '../canvas/chart-table.tsx'
import { unmarked } from '../canvas/marks.ts'
import { useChart } from '../canvas/use-chart.ts'
import classes from '../chart-page.module.css'
import { trafficQuery } from '../queries.ts'
import { StartOne } from '../sessions/start-one.tsx'
import styles from './traffic.module.css'
import { TrafficFigures } from './traffic-figures.tsx'
import { trafficMarks } from './traffic-marks.ts'
import { StatesTable, TransitionsTable } from './traffic-tables.tsx'

const spans = [
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last day' },
  { value: '168', label: 'Last week' },
]
/** ` 99.9K` behind the event's name. */
const countLetters = 5

export function TrafficView() {
  const [search, setSearch] = useSearchParams()
  const asked = search.get('hours')
  const span = spans.find(({ value }) => value === asked) ?? spans[1]
  const hours = Number(span?.value ?? 24)
  const { data, error } = useQuery({ ...trafficQuery(hours), placeholderData: keepPreviousData })
  const laidOut = useChart(countLetters)
  const marks = useMemo(() => (data ? trafficMarks(data) : unmarked), [data])
  const replies = data?.transitions.reduce((sum, { count }) => sum + count, 0) ?? 0
  return (
    <>
      <Group mb="md" gap="md">
        <SegmentedControl
          aria-label="How far back"
          size="xs"
          value={String(hours)}
          onChange={(value) => setSearch((before) => withParams(before, { hours: value }))}
          data={spans}
        />
        <Legend />
      </Group>
      <ErrorAlert error={error} mb="md" />
      {data && replies === 0 && (
        <Group className={styles.quiet ?? ''} mb="md">
          <Text fz="sm">
            <b>No traffic in the {span?.label.toLowerCase()}.</b> Send an agent a message and it shows here.
          </Text>
          <StartOne />
        </Group>
      )}
      <TrafficFigures traffic={data} />
      <ChartPicture laidOut={laidOut} marks={marks} label={`Traffic of the ${span?.label.toLowerCase()}`} isRoomy />
      {data && (
        <div className={classes.beside}>
          <TransitionsTable traffic={data} />
          <StatesTable traffic={data} />
        </div>
      )}
      <RepliesByModel hours={hours} />
      <ChartTable laidOut={laidOut} />
    </>
  )
}

/** First token, duration and share of errors. */
function RepliesByModel({ hours }: { hours: number }) {
  const from = useMemo(() => new Date(Date.now() - hours * 3_600_000).toISOString(), [hours])
  const { data } = useQuery({ ...figuresQuery('model', { from }), placeholderData: keepPreviousData })
  if (!data || data.rows.length === 0) return null
  return (
    <Card title="Replies by model">
      <FiguresTable rows={data.rows} noun="Model" name={(model) => model} currency={null} />
    </Card>
  )
}

function Legend() {
  return (
    <ul className={styles.legend} aria-label="Legend">
      <li>
        <i className={styles.wedge} aria-hidden />
        wider: taken more often
      </li>
      <li>
        <i className={styles.warmth} aria-hidden />
        warmer: stayed longer (1 ms to 10 min)
      </li>
      <li>
        <b>p50 · p95</b> of a visit
      </li>
    </ul>
  )
}
