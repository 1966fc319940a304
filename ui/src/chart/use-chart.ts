/** The chart with its layout, in the form that suits the window. */
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type Form, type Layout, layoutQuery } from './layout.ts'
import { type Chart, chartQuery } from './queries.ts'

export interface LaidOutChart {
  chart: Chart | undefined
  layout: Layout | undefined
  form: Form
  error: Error | null
}

const noChart: Chart = { id: '', initial: '', states: [], transitions: [] }

/** `extraLetters`: room in each label beside the event's name. */
export function useChart(extraLetters = 0): LaidOutChart {
  const narrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false })
  const form: Form = narrow ? 'tall' : 'wide'
  const machine = useQuery(chartQuery)
  const placed = useQuery({
    ...layoutQuery(machine.data ?? noChart, form, extraLetters),
    enabled: machine.data !== undefined,
  })
  return { chart: machine.data, layout: placed.data, form, error: machine.error ?? placed.error }
}
