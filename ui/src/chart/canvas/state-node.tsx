import { Handle, type NodeProps, Position } from '@xyflow/react'
import classes from './chart.module.css'
import type { StateFlowNode } from './flow-elements.ts'

export function StateNode({ id, data: { name, tone, compound, form, mark } }: NodeProps<StateFlowNode>) {
  const { lit, note } = mark
  return (
    <div
      className={classes.state}
      data-state={id}
      data-tone={tone}
      data-form={form}
      data-compound={compound || undefined}
      data-lit={lit || undefined}
    >
      <Handle type="target" position={Position.Left} className={classes.handle ?? ''} isConnectable={false} />
      <span className={classes.stateName}>
        <i className={classes.dot} />
        {name}
      </span>
      {note !== undefined && <div className={classes.note}>{note}</div>}
      <Handle type="source" position={Position.Right} className={classes.handle ?? ''} isConnectable={false} />
    </div>
  )
}
