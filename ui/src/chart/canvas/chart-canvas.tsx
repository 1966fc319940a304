/** The machine as a picture: laid out at build time (layout.ts), drawn by React Flow; `marks` show what is going on. */
import '@xyflow/react/dist/base.css'
import { ActionIcon, Group, useComputedColorScheme } from '@mantine/core'
import { useResizeObserver } from '@mantine/hooks'
import { IconFocusCentered, IconMinus, IconPlus } from '@tabler/icons-react'
import {
  type AriaLabelConfig,
  type EdgeTypes,
  type NodeTypes,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react'
import { type SyntheticEvent, useEffect, useMemo, useState } from 'react'
import type { Form, Layout } from '../layout/layout.ts'
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
  const onFocus = ({ target }: SyntheticEvent) =>
    setLooked(target instanceof Element ? (target.closest('[data-id]')?.getAttribute('data-id') ?? null) : null)
  return (
    <figure className={classes.figure} aria-label={label} data-form={form}>
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

/** Returns the size of the chart: as wide as its card, the tall form no wider than it is drawn. */
const sizeOf = ({ width, height }: Layout, form: Form) => ({
  aspectRatio: `${width} / ${height}`,
  ...(form === 'tall' && { maxWidth: width, marginInline: 'auto' }),
})

/** Fits the whole chart whenever its container changes size. */
function useFitted(layout: Layout) {
  const { fitBounds } = useReactFlow()
  const [sized, { width, height }] = useResizeObserver<HTMLDivElement>()
  useEffect(() => {
    const frame = requestAnimationFrame(() => void fitBounds(boundsOf(layout), fit))
    return () => cancelAnimationFrame(frame)
  }, [fitBounds, width, height, layout])
  return sized
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
