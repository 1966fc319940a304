/** The machine as a picture: laid out at build time (layout.ts), drawn by React Flow; `marks` show what is going on. */
import '@xyflow/react/dist/base.css'
import { ActionIcon, Group, useComputedColorScheme } from '@mantine/core'
import { useMergedRef, useResizeObserver } from '@mantine/hooks'
import { IconFocusCentered, IconMinus, IconPlus } from '@tabler/icons-react'
import {
  type AriaLabelConfig,
  type EdgeTypes,
  type NodeTypes,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react'
import { type SyntheticEvent, useEffect, useMemo, useRef, useState } from 'react'
import { type Form, type Layout, SMALLEST } from '../layout/layout.ts'
import classes from './chart.module.css'
import { CopyChart } from './copy-chart.tsx'
import { flowEdges, flowNodes } from './flow-elements.ts'
import type { Marks } from './marks.ts'
import { StartNode } from './start-node.tsx'
import { StateNode } from './state-node.tsx'
import { TransitionEdge } from './transition-edge.tsx'

export interface ChartCanvasProps {
  layout: Layout
  form: Form
  marks: Marks
  /** A description of the picture for screen readers. */
  label: string
}

const nodeTypes: NodeTypes = { state: StateNode, start: StartNode }
const edgeTypes: EdgeTypes = { transition: TransitionEdge }
const boundsOf = ({ width, height }: Layout) => ({ x: 0, y: 0, width, height })
const fit = { padding: 0 }
const spoken: Partial<AriaLabelConfig> = {
  'node.a11yDescription.default': 'A state of the machine. While it has focus, its purpose is shown below the chart.',
  'node.a11yDescription.keyboardDisabled': 'A state of the machine.',
  'edge.a11yDescription.default':
    'A transition of the machine. While it has focus, its purpose is shown below the chart.',
}

export default function ChartCanvas(props: ChartCanvasProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  )
}

function Canvas({ layout, form, marks, label }: ChartCanvasProps) {
  const colorMode = useComputedColorScheme('light')
  const nodes = useMemo(() => flowNodes(layout, form, marks.states), [layout, form, marks.states])
  const edges = useMemo(() => flowEdges(layout, form, marks.transitions), [layout, form, marks.transitions])
  const [looked, setLooked] = useState<string | null>(null)
  const box = useFitted(layout)
  const around = useInSight(middleOf(layout, marks))
  const onFocus = ({ target }: SyntheticEvent) =>
    setLooked(target instanceof Element ? (target.closest('[data-id]')?.getAttribute('data-id') ?? null) : null)
  return (
    <figure className={classes.figure} aria-label={label} data-form={form}>
      <div ref={around} className={classes.around}>
        <div ref={box} className={classes.canvas} style={sizeOf(layout, form)}>
          <ReactFlow
            nodes={nodes}
            edges={edges}
            nodeTypes={nodeTypes}
            edgeTypes={edgeTypes}
            colorMode={colorMode}
            attributionPosition="top-left"
            minZoom={0.25}
            maxZoom={2.5}
            nodesDraggable={false}
            nodesConnectable={false}
            elementsSelectable={false}
            zoomOnScroll={false}
            zoomOnDoubleClick={false}
            preventScrolling={false}
            panOnDrag={form === 'wide'}
            onNodeMouseEnter={(_event, { id }) => setLooked(id)}
            onNodeMouseLeave={() => setLooked(null)}
            onEdgeMouseEnter={(_event, { id }) => setLooked(id)}
            onEdgeMouseLeave={() => setLooked(null)}
            ariaLabelConfig={spoken}
            onFocus={onFocus}
            onBlur={() => setLooked(null)}
          />
        </div>
      </div>
      <figcaption className={classes.caption}>
        <Meaning layout={layout} looked={looked} />
        <Group gap={8} wrap="nowrap">
          <CopyChart layout={layout} />
          <Zoom layout={layout} />
        </Group>
      </figcaption>
    </figure>
  )
}

/** Returns the size of the chart. It is as wide as its card, but never too small to read: then the card scrolls. */
const sizeOf = ({ width, height }: Layout, form: Form) => ({
  aspectRatio: `${width} / ${height}`,
  minWidth: Math.ceil(width * SMALLEST),
  ...(form === 'tall' && { maxWidth: width, marginInline: 'auto' }),
})

/** Returns the middle of the state where the actor is, or of the first one, as a part of the chart's width. */
function middleOf({ states, width }: Layout, marks: Marks): number {
  const inner = states.filter(({ compound }) => !compound)
  const found = inner.findLast(({ state }) => marks.states.get(state.id)?.lit === true) ?? inner[0]
  return found === undefined ? 0.5 : (found.box.x + found.box.width / 2) / width
}

/** Brings the place into sight where the chart is wider than its card. */
function useInSight(place: number) {
  const around = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current } = around
    if (current === null) return
    const { scrollLeft, scrollWidth, clientWidth } = current
    const at = place * scrollWidth
    if (at < scrollLeft + clientWidth / 6 || at > scrollLeft + (clientWidth * 5) / 6)
      current.scrollLeft = at - clientWidth / 2
  }, [place])
  return around
}

/** Fits the whole chart whenever its container changes size. */
function useFitted(layout: Layout) {
  const { fitBounds } = useReactFlow()
  const own = useRef<HTMLDivElement>(null)
  const [sized, { width, height }] = useResizeObserver<HTMLDivElement>()
  useEffect(() => {
    const frame = requestAnimationFrame(() => void fitBounds(boundsOf(layout), fit))
    return () => cancelAnimationFrame(frame)
  }, [fitBounds, width, height, layout])
  return useMergedRef(own, sized)
}

function Zoom({ layout }: { layout: Layout }) {
  const { zoomIn, zoomOut, fitBounds } = useReactFlow()
  const buttons = [
    ['Zoom in', IconPlus, () => zoomIn()],
    ['Zoom out', IconMinus, () => zoomOut()],
    ['Show the whole chart', IconFocusCentered, () => fitBounds(boundsOf(layout), fit)],
  ] as const
  return (
    <Group gap={4} wrap="nowrap">
      {buttons.map(([label, Icon, act]) => (
        <ActionIcon key={label} variant="default" size="sm" aria-label={label} title={label} onClick={() => void act()}>
          <Icon size={14} stroke={1.8} aria-hidden />
        </ActionIcon>
      ))}
    </Group>
  )
}

/** The description of the state or transition that is hovered or focused. */
function Meaning({ layout, looked }: { layout: Layout; looked: string | null }) {
  const state = layout.states.find(({ state }) => state.id === looked)?.state
  const transition = layout.transitions.find(({ transition }) => transition.id === looked)?.transition
  return (
    <p className={classes.meaning}>
      {state && (
        <>
          <b>{state.id}</b> {state.description}
        </>
      )}
      {transition && (
        <>
          <b>
            {transition.source} → {transition.target} on {transition.event}
          </b>{' '}
          {transition.description}
        </>
      )}
      {!state && !transition && 'Tap, point at or tab to a state or a transition to see what it does.'}
    </p>
  )
}
