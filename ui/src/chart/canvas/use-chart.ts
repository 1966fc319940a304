/** The chart with its layout, in the form that suits its place. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Form, formFor, type Layout, layoutOf } from '../layout/layout.ts'
import { chartQuery } from '../queries.ts'
import type { Chart } from '../step.ts'

export interface LaidOutChart {
  chart: Chart | undefined
  layout: Layout | undefined
  /** Null where the picture has no room: the chart is read as a table. */
  form: Form | null
  error: Error | null
}

/** Returns the chart as it fits into so many pixels. */
export function useChart(width: number): LaidOutChart {
  const form = formFor(width)
  const { data: chart, error } = useQuery(chartQuery)
  const layout = useMemo(() => (chart && form ? layoutOf(chart, form) : undefined), [chart, form])
  return { chart, layout, form, error }
}
