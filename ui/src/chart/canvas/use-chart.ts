/** The chart with its layout, in the form that suits the window. */
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Form, type Layout, layoutOf, leastWideWidth } from '../layout/layout.ts'
import { chartQuery } from '../queries.ts'
import type { Chart } from '../step.ts'

export interface LaidOutChart {
  chart: Chart | undefined
  layout: Layout | undefined
  form: Form
  error: Error | null
}

/** The navigation, and the space around the page. */
const BESIDE = 362

/** Below this width the words of the wide form would be too small to read. */
const tooNarrow = `(max-width: ${leastWideWidth + BESIDE - 1}px)`

export function useChart(): LaidOutChart {
  const narrow = useMediaQuery(tooNarrow, undefined, { getInitialValueInEffect: false })
  const form: Form = narrow ? 'tall' : 'wide'
  const machine = useQuery(chartQuery)
  const chart = machine.data
  const layout = useMemo(() => chart && layoutOf(chart, form), [chart, form])
  return { chart, layout, form, error: machine.error }
}
