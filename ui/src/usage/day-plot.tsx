/** The plot, with the library that draws it: loaded when there is something to draw. */
import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { wholeNumber } from '../blocks/words.ts'
import type { Bucket } from './buckets.ts'
import { shortNumber } from './words.ts'

const series = [
  { name: 'promptTokens', label: 'Input', color: 'var(--usage-prompt)', stackId: 'tokens' },
  { name: 'completionTokens', label: 'Output', color: 'var(--usage-completion)', stackId: 'tokens' },
]

export function DayPlot({ buckets }: { buckets: Bucket[] }) {
  return (
    <BarChart
      h={210}
      data={buckets}
      dataKey="label"
      type="stacked"
      series={series}
      tickLine="none"
      gridAxis="x"
      maxBarWidth={44}
      barProps={{ isAnimationActive: false }}
      // The table has all of it for those who do not see the plot.
      barChartProps={{ accessibilityLayer: false, barCategoryGap: '18%' }}
      xAxisProps={{ minTickGap: 18 }}
      yAxisProps={{ tickFormatter: shortNumber, width: 48 }}
      tooltipAnimationDuration={0}
      valueFormatter={wholeNumber}
    />
  )
}
