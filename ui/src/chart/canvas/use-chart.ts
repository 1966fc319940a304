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

/** `extraLetters`: room in each label beside the event's name. */
export function useChart(extraLetters: 0 | 5 = 0): LaidOutChart {
  const narrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false })
  const form: Form = narrow ? 'tall' : 'wide'
  const machine = useQuery(chartQuery)
  const chart = machine.data
  const layout = useMemo(() => chart && layoutOf(chart, form, extraLetters), [chart, form, extraLetters])
  return { chart, layout, form, error: machine.error }
}
