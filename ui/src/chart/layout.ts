/** The chart's layout, by ELK, which runs in a worker (600 ms the first time, off this thread). */
import { queryOptions } from '@tanstack/react-query'
import Elk, { type ELK, type ElkNode } from 'elkjs/lib/elk-api.js'
import workerUrl from 'elkjs/lib/elk-worker.min.js?url'
import { shortName } from './machine.ts'
import type { Chart, ChartState, ChartTransition } from './queries.ts'

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

const forms = {
  wide: { direction: 'RIGHT', width: 158, height: 62, letter: 7, label: 24, gap: 26, header: 46 },
  tall: { direction: 'DOWN', width: 122, height: 66, letter: 9, label: 28, gap: 20, header: 48 },
} as const

const startId = '(start)'

const optionsOf = (form: Form) => ({
  'elk.algorithm': 'layered',
  'elk.direction': forms[form].direction,
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.nodePlacement.favorStraightEdges': 'true',
  'elk.spacing.nodeNode': String(forms[form].gap),
  'elk.layered.spacing.nodeNodeBetweenLayers': String(forms[form].gap),
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '14',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '14',
})

/** `extraLetters`: room in each label beside the event's name. */
function elkGraph(chart: Chart, form: Form, extraLetters: number): ElkNode {
  const { width, height, letter, label, header } = forms[form]
  const nodeOf = (state: ChartState): ElkNode => {
    const children = chart.states.filter(({ parent }) => parent === state.id).map(nodeOf)
    if (children.length === 0) {
      return { id: state.id, width: Math.max(width, shortName(state.id).length * letter * 1.25 + 44), height }
    }
    const padding = `[top=${header},left=20,bottom=20,right=20]`
    return { id: state.id, children, layoutOptions: { ...optionsOf(form), 'elk.padding': padding } }
  }
  const start = {
    id: startId,
    width: 14,
    height: 14,
    layoutOptions: { 'elk.layered.layering.layerConstraint': 'FIRST' },
  }
  return {
    id: 'chart',
    layoutOptions: {
      ...optionsOf(form),
      'elk.padding': '[top=8,left=8,bottom=8,right=8]',
      'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
      'elk.json.edgeCoords': 'ROOT',
      'elk.json.shapeCoords': 'ROOT',
    },
    children: [start, ...chart.states.filter(({ parent }) => parent === null).map(nodeOf)],
    edges: [
      { id: startId, sources: [startId], targets: [chart.initial] },
      ...chart.transitions.map(({ id, source, target, event }) => ({
        id,
        sources: [source],
        targets: [target],
        labels: [
          {
            text: event,
            width: (event.length + extraLetters) * letter + 20,
            height: label,
            layoutOptions: { 'elk.edgeLabels.inline': 'true' },
          },
        ],
      })),
    ],
  }
}

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box => ({ x, y, width, height })

function readLayout(chart: Chart, root: ElkNode): Layout {
  const boxes = new Map<string, Box>()
  const visit = (node: ElkNode): void => {
    boxes.set(node.id, boxOf(node))
    node.children?.forEach(visit)
  }
  visit(root)
  const edges = new Map((root.edges ?? []).map((edge) => [edge.id, edge]))
  const pointsOf = (id: string): Point[] =>
    (edges.get(id)?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
      startPoint,
      ...bendPoints,
      endPoint,
    ])
  return {
    width: root.width ?? 0,
    height: root.height ?? 0,
    states: chart.states.map((state) => ({
      state,
      box: boxes.get(state.id) ?? boxOf({}),
      compound: chart.states.some(({ parent }) => parent === state.id),
    })),
    transitions: chart.transitions.map((transition) => ({
      transition,
      points: pointsOf(transition.id),
      label: boxOf(edges.get(transition.id)?.labels?.[0] ?? {}),
    })),
    start: { box: boxes.get(startId) ?? boxOf({}), points: pointsOf(startId) },
  }
}

let elk: ELK | null = null

export const layoutQuery = (chart: Chart, form: Form, extraLetters: number) =>
  queryOptions({
    queryKey: ['chart', 'layout', chart, form, extraLetters],
    queryFn: async () => {
      elk ??= new Elk({ workerFactory: () => new Worker(workerUrl) })
      return readLayout(chart, await elk.layout(elkGraph(chart, form, extraLetters)))
    },
    staleTime: Number.POSITIVE_INFINITY,
    networkMode: 'always',
  })
