import type { EdgeProps } from '@xyflow/react'
import { arrowHead, roundedPath } from '../layout/path.ts'
import classes from './chart.module.css'
import type { TransitionFlowEdge } from './flow-elements.ts'

const lineWidth = 1.5
const headSize = 8.35

export function TransitionEdge({ id, data }: EdgeProps<TransitionFlowEdge>) {
  if (data === undefined) return null
  const { placed, points, mark, form } = data
  const { taken, tone } = mark
  const path = roundedPath(points, headSize)
  return (
    <g
      className={classes.edge}
      data-transition={id}
      data-tone={tone}
      data-form={form}
      data-taken={taken !== undefined || undefined}
    >
      <path className="react-flow__edge-interaction" d={path} fill="none" strokeOpacity={0} strokeWidth={18} />
      <path className={classes.line} d={path} strokeWidth={taken === undefined ? lineWidth : lineWidth + 1} />
      <path className={classes.head} d={arrowHead(points, headSize)} />
      {taken !== undefined && <path key={taken} className={classes.comet} d={path} pathLength={1} />}
      {placed && (
        <g className={classes.label} transform={`translate(${placed.label.x} ${placed.label.y})`} aria-hidden>
          <rect width={placed.label.width} height={placed.label.height} rx={placed.label.height / 2} />
          <text x={placed.label.width / 2} y={placed.label.height / 2} dominantBaseline="central" textAnchor="middle">
            {placed.transition.event}
          </text>
        </g>
      )}
    </g>
  )
}
