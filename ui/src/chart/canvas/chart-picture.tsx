/** The chart as a picture, once its code is there. Each page shows it as text too (chart-table.tsx). */
import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { reliable } from '../../shell/reliable-import.ts'
import type { ChartCanvasProps } from './chart-canvas.tsx'

const ChartCanvas = lazy(reliable(() => import('./chart-canvas.tsx')))

export const ChartPicture = (props: ChartCanvasProps) => (
  <Suspense fallback={<Skeleton h={props.form === 'wide' ? 520 : 640} radius="lg" />}>
    <ChartCanvas {...props} />
  </Suspense>
)
