import { Text } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { AwaitedLines } from '../blocks/awaited/awaited.tsx'
import { Card } from '../blocks/card.tsx'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { sumOf } from './buckets.ts'
import { ByDay } from './by-day.tsx'
import { usePeriod } from './period/period-in-url.ts'
import { PeriodPicker } from './period/period-picker.tsx'
import { figuresQuery, type Period, pricesQuery, type UsageReport, usageQuery } from './queries.ts'
import { savedByCaches } from './saved.ts'
import { Figures } from './tables/figures.tsx'
import { modelNames, useAgentNames } from './tables/names.tsx'
import { ShareTable, type ShareTableProps } from './tables/share-table.tsx'
import { Totals } from './totals.tsx'
import classes from './usage.module.css'
import { money } from './words.ts'

export function Component() {
  const { period } = usePeriod()
  const days = useQuery({ ...usageQuery('day', period), placeholderData: keepPreviousData })
  return (
    <>
      <PeriodPicker />
      <div className={classes.blocks}>
        <WhenRead query={days} awaited={<AwaitedCards />}>
          {(report) => <Report report={report} period={period} />}
        </WhenRead>
      </div>
    </>
  )
}

function Report({ report, period }: { report: UsageReport; period: Period }) {
  const saved = useSaved(period)
  const cost = useCost(period)
  const agentNames = useAgentNames()
  if (report.rows.length === 0) {
    return (
      <EmptyState
        icon={IconChartBar}
        title="No replies in this period"
        leadTo={{ path: '/playground', label: 'Talk to an agent' }}
      >
        Every finished reply is counted here, by day, agent and model.
      </EmptyState>
    )
  }
  const sum = sumOf(report.rows)
  return (
    <>
      <Totals sum={sum} cost={cost} saved={saved} />
      <ByDay report={report} />
      <div className={classes.pair}>
        <Share title="By agent" of="agent" period={period} names={agentNames} />
        <Share title="By model" of="model" period={period} names={modelNames} />
      </div>
      <Figures period={period} />
      <Text fz="xs" c="dimmed">
        Times cover the last seven days. Days are UTC.
        {sum.estimated && ' ≈: providers reported no tokens for some replies; a tokenizer counted those.'}
      </Text>
    </>
  )
}

/** Returns what the models with a price have cost. Null where none has one. */
function useCost(period: Period): string | null {
  const { data } = useQuery({ ...figuresQuery('model', period), placeholderData: keepPreviousData })
  const prices = useQuery(pricesQuery).data
  const known = data?.rows.flatMap(({ cost }) => cost ?? []) ?? []
  return known.length === 0 || !prices
    ? null
    : money(
        prices.currency,
        known.reduce((sum, one) => sum + one, 0),
      )
}

/** Returns null where no price tells. */
function useSaved(period: Period): string | null {
  const { data } = useQuery({ ...usageQuery('model', period), placeholderData: keepPreviousData })
  const prices = useQuery(pricesQuery).data
  const saved = data && prices ? savedByCaches(data.rows, prices) : null
  return saved === null || prices === undefined ? null : money(prices.currency, saved)
}

interface ShareProps extends Pick<ShareTableProps, 'title' | 'names'> {
  of: 'agent' | 'model'
  period: Period
}

function Share({ title, of, period, names }: ShareProps) {
  const usage = useQuery({ ...usageQuery(of, period), placeholderData: keepPreviousData })
  return (
    <Card title={title}>
      <WhenRead query={usage} awaited={<AwaitedLines count={6} />}>
        {({ rows }) => <ShareTable title={title} rows={rows} names={names} />}
      </WhenRead>
    </Card>
  )
}

const AwaitedCard = ({ title }: { title: string }) => (
  <Card title={title}>
    <AwaitedLines count={6} />
  </Card>
)

/** The cards with their headings, before the numbers come. */
const AwaitedCards = () => (
  <>
    <AwaitedCard title="By day" />
    <div className={classes.pair}>
      <AwaitedCard title="By agent" />
      <AwaitedCard title="By model" />
    </div>
  </>
)
