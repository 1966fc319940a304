/**
 * Lays the state chart out with ELK, in each form that the pages draw, and writes ui/src/chart/layouts.json. ELK is 1.6 MB
 * of script and takes 600 ms in a browser, for a chart that changes with the machine only. `--check` writes nothing and
 * fails when the file differs.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { argv, exit } from 'node:process'
import Elk, { type ElkNode } from 'elkjs'
import { type ChartState, type SessionChart, sessionChart } from '../src/actors/session/chart.ts'

const file = new URL('../ui/src/chart/layout/layouts.json', import.meta.url)

/** `wide` reads from left to right, `tall` from top to bottom and with larger words: it is shown smaller. */
type Form = 'wide' | 'tall'

const shortName = (state: string): string => state.slice(state.lastIndexOf('.') + 1)

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

function elkGraph(chart: SessionChart, form: Form): ElkNode {
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
            width: event.length * letter + 20,
            height: label,
            layoutOptions: { 'elk.edgeLabels.inline': 'true' },
          },
        ],
      })),
    ],
  }
}

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Record<'x' | 'y' | 'width' | 'height', number>>) => ({
  x: round(x),
  y: round(y),
  width: round(width),
  height: round(height),
})
const round = (length: number): number => Math.round(length * 10) / 10

/** Boxes of states and the start by id; of transitions their points and the label's box. */
function readLayout(root: ElkNode) {
  const boxes: Record<string, ReturnType<typeof boxOf>> = {}
  const visit = (node: ElkNode): void => {
    boxes[node.id] = boxOf(node)
    node.children?.forEach(visit)
  }
  root.children?.forEach(visit)
  const edges = Object.fromEntries(
    (root.edges ?? []).map(({ id, sections = [], labels = [] }) => {
      const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
        startPoint,
        ...bendPoints,
        endPoint,
      ])
      return [id, { points: points.map(({ x, y }) => ({ x: round(x), y: round(y) })), label: boxOf(labels[0] ?? {}) }]
    }),
  )
  return { width: round(root.width ?? 0), height: round(root.height ?? 0), boxes, edges }
}

const elk = new Elk.default()
const layouts: Record<string, ReturnType<typeof readLayout>> = {}
for (const form of ['wide', 'tall'] as const) {
  layouts[form] = readLayout(await elk.layout(elkGraph(sessionChart(), form)))
}
const text = `${JSON.stringify(layouts)}\n`
if (!argv.includes('--check')) await writeFile(file, text)
else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
  console.error('ui/src/chart/layouts.json differs from the machine: run npm run generate.')
  exit(1)
}
