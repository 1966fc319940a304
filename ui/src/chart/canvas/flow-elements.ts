/** The laid-out chart as React Flow's nodes and edges. Nothing is measured: ELK's boxes are used. */
import { type Edge, type Node, Position } from '@xyflow/react'
import type { Box, Form, Layout, PlacedTransition } from '../layout/layout.ts'
import { shortName, type Tone, toneOf } from '../machine.ts'
import type { Marks, StateMark, TransitionMark } from './marks.ts'

export type StateFlowNode = Node<{ name: string; tone: Tone; compound: boolean; form: Form; mark: StateMark }, 'state'>
export type TransitionFlowEdge = Edge<
  { placed: PlacedTransition | null; points: PlacedTransition['points']; form: Form; mark: TransitionMark },
  'transition'
>

const startId = '(start)'
const fixed = (box: Box) => ({
  position: { x: box.x, y: box.y },
  width: box.width,
  height: box.height,
  // React Flow forgets the handles of a new node without these.
  measured: { width: box.width, height: box.height },
  sourcePosition: Position.Right,
  targetPosition: Position.Left,
})

const noMark: StateMark & TransitionMark = {}

export function flowNodes(layout: Layout, form: Form, marks: Marks['states']): Node[] {
  const states: StateFlowNode[] = layout.states.map(({ state, box, compound }) => {
    const mark = marks.get(state.id) ?? noMark
    return {
      ...fixed(box),
      id: state.id,
      type: 'state',
      zIndex: compound ? 0 : 2,
      data: { name: shortName(state.id), tone: toneOf(state.id), compound, form, mark },
      ariaLabel: `State ${state.id}${mark.lit ? ', current' : ''}. ${state.description}`,
    }
  })
  const start: Node = { ...fixed(layout.start.box), id: startId, type: 'start', data: {}, focusable: false }
  return [start, ...states]
}

export function flowEdges(layout: Layout, form: Form, marks: Marks['transitions']): TransitionFlowEdge[] {
  const edges = layout.transitions.map((placed): TransitionFlowEdge => {
    const { id, source, target, event, description } = placed.transition
    const mark = marks.get(id) ?? noMark
    return {
      id,
      source,
      target,
      type: 'transition',
      zIndex: 1,
      data: { placed, points: placed.points, form, mark },
      ariaLabel: `From ${source} to ${target} on ${event}. ${description}`,
    }
  })
  const first = layout.states[0]?.state.id ?? startId
  const start: TransitionFlowEdge = {
    id: startId,
    source: startId,
    target: first,
    type: 'transition',
    zIndex: 1,
    focusable: false,
    data: { placed: null, points: layout.start.points, form, mark: noMark },
  }
  return [start, ...edges]
}
