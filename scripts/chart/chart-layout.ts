/**
 * Lays the state chart out with ELK, in each form that the pages draw, and writes ui/src/chart/layouts.json. ELK is 1.6 MB
 * of script and takes 600 ms in a browser, for a chart that changes with the machine only. `--check` writes nothing and
 * fails when the file differs.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { argv, exit } from 'node:process'
import Elk, { type ElkNode } from 'elkjs'
import {
  type ChartState,
  type ChartTransition,
  type SessionChart,
  sessionChart,
} from '../../src/features/traces/chart.ts'
import { DETOUR_ROOM, detourOf, drawDetour, touches } from './chart-detour.ts'

const file = new URL('../../ui/src/chart/layout/layouts.json', import.meta.url)

/** `wide` reads from left to right, `tall` from top to bottom. Both are drawn at this size or larger, never smaller. */
type Form = 'wide' | 'tall'

const shortName = (state: string): string => state.slice(state.lastIndexOf('.') + 1)

const forms = {
  wide: { direction: 'RIGHT', width: 108, height: 114, letter: 7.2, label: 26, gap: 14, beside: 18, header: 46 },
  tall: { direction: 'DOWN', width: 110, height: 60, letter: 7.4, label: 26, gap: 18, beside: 18, header: 46 },
} as const

/** Room for what a reply does while it is generated, drawn to scale (ui/src/chart/canvas/lane.tsx). */
const LANE = { id: 'streaming.generating', width: 196, height: 190 }

const startId = '(start)'

const optionsOf = (form: Form) => ({
  'elk.algorithm': 'layered',
  'elk.direction': forms[form].direction,
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.nodePlacement.favorStraightEdges': 'true',
  'elk.spacing.nodeNode': String(forms[form].beside),
  'elk.layered.spacing.nodeNodeBetweenLayers': String(forms[form].gap),
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '14',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '11',
})

const isTop = ({ parent }: ChartState): boolean => parent === null

/** Returns how many steps on the outside lead to each state from the first. */
function depths({ initial, transitions }: SessionChart): Map<string, number> {
  const outside = (id: string) => id.split('.')[0] ?? id
  const found = new Map([[initial, 0]])
  for (const [id, depth] of found) {
    for (const { source, target } of transitions) {
      if (outside(source) === id && !found.has(outside(target))) found.set(outside(target), depth + 1)
    }
  }
  return found
}

/** Returns the id of the detour. The tall chart has room for it where ELK puts it. */
const detourIn = (chart: SessionChart, form: Form): string | undefined =>
  form === 'wide' ? detourOf(chart) : undefined

/** Returns the transitions that lead back on the outside: they share one rail. */
function returnsOf(chart: SessionChart, form: Form): ChartTransition[] {
  const depth = depths(chart)
  const detour = detourIn(chart, form)
  return chart.transitions.filter((one) => {
    const { source, target } = one
    return !touches(detour, one) && (depth.get(target) ?? 0) < (depth.get(source) ?? 0)
  })
}

function elkGraph(chart: SessionChart, form: Form): ElkNode {
  const { width, height, letter, label, header } = forms[form]
  const detour = detourIn(chart, form)
  const nodeOf = (state: ChartState): ElkNode => {
    const children = chart.states.filter(({ parent, id }) => parent === state.id && id !== detour).map(nodeOf)
    if (state.id === LANE.id) return { id: state.id, width: LANE.width, height: LANE.height }
    if (children.length === 0) {
      return { id: state.id, width: Math.max(width, shortName(state.id).length * letter * 1.25 + 40), height }
    }
    const holds = detour !== undefined && children.some(({ id }) => id === LANE.id)
    const padding = `[top=${header},left=20,bottom=${20 + (holds ? DETOUR_ROOM : 0)},right=20]`
    return { id: state.id, children, layoutOptions: { ...optionsOf(form), 'elk.padding': padding } }
  }
  const returns = new Set(returnsOf(chart, form))
  const drawn = chart.transitions.filter((one) => !returns.has(one) && !touches(detour, one))
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
    children: [start, ...chart.states.filter(isTop).map(nodeOf)],
    edges: [
      { id: startId, sources: [startId], targets: [chart.initial] },
      ...drawn.map(({ id, source, target, event }) => ({
        id,
        sources: [source],
        targets: [target],
        labels: [
          {
            text: event,
            width: event.length * letter + 16,
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

type Layout = ReturnType<typeof readLayout>

/** Draws the returns as one rail around the outside. */
function withRail(chart: SessionChart, form: Form, layout: Layout): Layout {
  const { letter, label } = forms[form]
  const isWide = form === 'wide'
  // `along` the direction of reading and `across` it, so that both forms are the same.
  const at = (along: number, across: number) => (isWide ? { x: along, y: across } : { x: across, y: along })
  const ends = ({ x, y, width, height }: Layout['boxes'][string]) =>
    isWide
      ? { along: [x, x + width] as const, across: [y, y + height] as const }
      : { along: [y, y + height] as const, across: [x, x + width] as const }
  const { boxes } = layout
  const edges = { ...layout.edges }
  const returns = returnsOf(chart, form)
  const detour = detourIn(chart, form)
  const aside = [...returns, ...chart.transitions.filter((one) => touches(detour, one))]
  const longest = Math.max(0, ...aside.map(({ event }) => event.length)) * letter + 16
  const end = Math.max(...Object.values(layout.boxes).map((box) => ends(box).along[1]))
  const edge = Math.max(...Object.values(layout.boxes).map((box) => ends(box).across[1]))
  const rail = end + (isWide ? longest + 26 : label + 40)
  const far = Math.max(edge, isWide ? layout.height : layout.width) + 26
  /**
   * Returns the place where a line leaves its state, across the direction of reading: all that lead there from the rail
   * are side by side.
   */
  const doorOf = (id: string, state: string): number => {
    const own = aside.filter(({ source, target }) => source === state || (target === state && source === detour))
    const [low, high] = boxes[state] ? ends(boxes[state]).across : [0, 0]
    const place = own.findIndex((one) => one.id === id)
    return (low + high) / 2 + (place - (own.length - 1) / 2) * ((isWide ? label : longest) + 3)
  }
  for (const { id, source, target, event } of returns) {
    const [from, to] = [boxes[source], boxes[target]]
    if (from === undefined || to === undefined) continue
    const across = doorOf(id, source)
    const begin = ends(from).along[1]
    const into = ends(to).along[0] + (ends(to).along[1] - ends(to).along[0]) / 2
    const points = [at(begin, across), at(rail, across), at(rail, far), at(into, far), at(into, ends(to).across[1])]
    const width = event.length * letter + 16
    const middle = isWide ? begin + 11 + width / 2 : begin + 14 + label / 2
    const { x, y } = at(middle, across)
    edges[id] = {
      points: points.map((point) => ({ x: round(point.x), y: round(point.y) })),
      label: boxOf({ x: x - width / 2, y: y - label / 2, width, height: label }),
    }
  }
  if (detour !== undefined) {
    const sizeOf = (event: string) => ({ width: event.length * letter + 16, height: label })
    const drawn = drawDetour(chart, detour, { boxes, of: LANE.id, rail, far, sizeOf, doorOf })
    boxes[detour] = boxOf(drawn.box)
    for (const [id, { points, label }] of Object.entries(drawn.edges)) {
      edges[id] = { points: points.map(({ x, y }) => ({ x: round(x), y: round(y) })), label: boxOf(label) }
    }
    return { width: round(rail + 26), height: round(far + 28), boxes, edges }
  }
  const width = round((isWide ? rail : far) + 10)
  return { width, height: round((isWide ? far : rail) + 10), boxes, edges }
}

const elk = new Elk.default()
const layouts: Record<string, Layout> = {}
for (const form of ['wide', 'tall'] as const) {
  const chart = sessionChart()
  layouts[form] = withRail(chart, form, readLayout(await elk.layout(elkGraph(chart, form))))
}
const text = `${JSON.stringify(layouts)}\n`
if (!argv.includes('--check')) await writeFile(file, text)
else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
  console.error('ui/src/chart/layouts.json differs from the machine: run npm run generate.')
  exit(1)
}
