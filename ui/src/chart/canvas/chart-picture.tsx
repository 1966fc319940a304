/** The chart on a page: loading, failed or drawn. Each page shows it as text too (chart-table.tsx). */
import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { reliable } from '../../shell/reliable-import.ts'
import type { Marks } from './marks.ts'
import type { LaidOutChart } from './use-chart.ts'

const ChartCanvas = lazy(reliable(() => import('./chart-canvas.tsx')))

interface ChartPictureProps {
  laidOut: LaidOutChart
  marks: Marks
  label: string
}

export function ChartPicture({ laidOut, marks, label }: ChartPictureProps) {
  const { layout, form, error } = laidOut
  if (error) return <ErrorAlert error={error} />
  const waiting = <Skeleton h={form === 'wide' ? 520 : 640} radius="lg" />
  if (!layout) return waiting
  return (
    <Suspense fallback={waiting}>
      <ChartCanvas layout={layout} form={form} marks={marks} label={label} />
    </Suspense>
  )
}
