/** The chart with its layout, in the form that suits the window. */
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Form, type Layout, layoutOf } from '../layout/layout.ts'
import { type Chart, chartQuery } from '../queries.ts'

export interface LaidOutChart {
  chart: Chart | undefined
  layout: Layout | undefined
  form: Form
  error: Error | null
}

export function useChart(): LaidOutChart {
  // Below that the wide form does not fit beside the navigation with words that can be read.
  const narrow = useMediaQuery('(max-width: 1435px)', undefined, { getInitialValueInEffect: false })
  const form: Form = narrow ? 'tall' : 'wide'
  const machine = useQuery(chartQuery)
  const chart = machine.data
  const layout = useMemo(() => chart && layoutOf(chart, form), [chart, form])
  return { chart, layout, form, error: machine.error }
}
