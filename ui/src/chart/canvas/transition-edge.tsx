import type { EdgeProps } from '@xyflow/react'
import { arrowHead, roundedPath } from '../layout/path.ts'
import classes from './chart.module.css'
import type { TransitionFlowEdge } from './flow-elements.ts'

export function TransitionEdge({ id, data }: EdgeProps<TransitionFlowEdge>) {
  if (data === undefined) return null
  const { placed, points, mark, form } = data
  const { taken, width = 1.5, tone, faint, count } = mark
  const size = 7 + width * 0.9
  const path = roundedPath(points, size)
  return (
    <g
      className={classes.edge}
      data-transition={id}
      data-tone={tone}
      data-form={form}
      data-taken={taken !== undefined || undefined}
      data-faint={faint || undefined}
    >
      <path className="react-flow__edge-interaction" d={path} fill="none" strokeOpacity={0} strokeWidth={18} />
      <path className={classes.line} d={path} strokeWidth={taken === undefined ? width : width + 1} />
      <path className={classes.head} d={arrowHead(points, size)} />
      {taken !== undefined && <path key={taken} className={classes.comet} d={path} pathLength={1} />}
      {placed && (
        <g className={classes.label} transform={`translate(${placed.label.x} ${placed.label.y})`} aria-hidden>
          <rect width={placed.label.width} height={placed.label.height} rx={placed.label.height / 2} />
          <text x={placed.label.width / 2} y={placed.label.height / 2} dominantBaseline="central" textAnchor="middle">
            {placed.transition.event}
            {count !== undefined && <tspan className={classes.count}> {count}</tspan>}
          </text>
        </g>
      )}
    </g>
  )
}
