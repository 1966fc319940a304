/** Shown under a reply: what it took, and its trace. */
import { Loader, SegmentedControl, Text } from '@mantine/core'
import { useState } from 'react'
import { wordsOf } from '../api.ts'
import { ModelSaw } from './model-saw.tsx'
import classes from './traces.module.css'
import { useTrace } from './use-trace.ts'
import { Waterfall } from './waterfall.tsx'

interface ReplyTraceProps {
  messageId: string
  running: boolean
}

const views = [
  { value: 'trace', label: 'Trace' },
  { value: 'saw', label: 'What the model saw' },
]

export default function ReplyTrace({ messageId, running }: ReplyTraceProps) {
  const [view, setView] = useState('trace')
  return (
    <section className={classes.panel} aria-label="Trace">
      <SegmentedControl size="xs" aria-label="View" data={views} value={view} onChange={setView} />
      {view === 'trace' ? <Spans messageId={messageId} running={running} /> : <ModelSaw messageId={messageId} />}
    </section>
  )
}

export function Spans({ messageId, running }: ReplyTraceProps) {
  const { trace, error } = useTrace(messageId, running)
  if (trace) return <Waterfall trace={trace} />
  return error ? <Text fz="sm">{wordsOf(error)}</Text> : <Loader size="sm" aria-label="Loading" />
}
