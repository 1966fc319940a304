import { Handle, Position } from '@xyflow/react'
import classes from './chart.module.css'

/** The node at which every session begins. */
export function StartNode() {
  return (
    <div className={classes.start}>
      <Handle type="source" position={Position.Right} className={classes.handle ?? ''} isConnectable={false} />
    </div>
  )
}
