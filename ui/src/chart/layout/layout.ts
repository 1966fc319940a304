/** The chart's layout, made by scripts/chart/chart-layout.ts from the machine that this version runs. */

import type { Chart, ChartState, ChartTransition } from '../step.ts'
import layouts from './layouts.json'

export interface Point {
  x: number
  y: number
}
export interface Box extends Point {
  width: number
  height: number
}
export interface PlacedState {
  state: ChartState
  box: Box
  /** Whether other states lie in it. */
  compound: boolean
}
export interface PlacedTransition {
  transition: ChartTransition
  points: Point[]
  label: Box
}
export interface Layout {
  width: number
  height: number
  states: PlacedState[]
  transitions: PlacedTransition[]
  /** The dot that the first state is entered from, and the way there. */
  start: { box: Box; points: Point[] }
}

/** `wide` reads from left to right, `tall` from top to bottom and with larger words: it is shown smaller. */
export type Form = 'wide' | 'tall'

const startId = '(start)'

interface StoredLayout {
  width: number
  height: number
  boxes: Readonly<Record<string, Box>>
  edges: Readonly<Record<string, { points: Point[]; label: Box }>>
}
const stored: Readonly<Record<string, StoredLayout>> = layouts
const nowhere: Box = { x: 0, y: 0, width: 0, height: 0 }

/** Words of the layouts have 13.2 pixels: drawn smaller than this they would have less than 12. */
const SMALLEST = 0.91

/** Returns the form whose words can be read in so many pixels. Null where neither fits. */
export const formFor = (width: number): Form | null =>
  (['wide', 'tall'] as const).find((form) => (stored[form]?.width ?? 0) * SMALLEST <= width) ?? null

/** Returns the layout of the chart. It leaves out what an older page does not know. */
export function layoutOf(chart: Chart, form: Form): Layout | undefined {
  const layout = stored[form]
  if (layout === undefined) return undefined
  const { width, height, boxes, edges } = layout
  return {
    width,
    height,
    states: chart.states.flatMap((state) => {
      const box = boxes[state.id]
      const compound = chart.states.some(({ parent }) => parent === state.id)
      return box === undefined ? [] : [{ state, box, compound }]
    }),
    transitions: chart.transitions.flatMap((transition) => {
      const edge = edges[transition.id]
      return edge === undefined ? [] : [{ transition, points: edge.points, label: edge.label }]
    }),
    start: { box: boxes[startId] ?? nowhere, points: edges[startId]?.points ?? [] },
  }
}
