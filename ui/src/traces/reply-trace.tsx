/** Shown under a reply: what it took, and its trace. */
import { Loader, SegmentedControl, Text } from '@mantine/core'
import { useState } from 'react'
import { wordsOf } from '../api.ts'
import { ModelSaw } from './model-saw.tsx'
import classes from './traces.module.css'
import type { TracedReply } from './types.ts'
import { useTrace } from './use-trace.ts'
import { Waterfall } from './waterfall.tsx'

const views = [
  { value: 'trace', label: 'Trace' },
  { value: 'saw', label: 'What the model saw' },
]

/** Give it the reply's id as its key. */
export default function ReplyTrace({ reply }: { reply: TracedReply }) {
  const [view, setView] = useState('trace')
  const [turn, setTurn] = useState(1)
  const openRequest = (of: number) => {
    setTurn(of)
    setView('saw')
  }
  return (
    <section className={classes.panel} aria-label="Trace">
      <SegmentedControl size="xs" aria-label="View" data={views} value={view} onChange={setView} />
      {view === 'trace' ? (
        <Spans reply={reply} onRequest={openRequest} />
      ) : (
        <ModelSaw messageId={reply.id} turn={turn} onTurn={setTurn} />
      )}
    </section>
  )
}

interface SpansProps {
  reply: TracedReply
  onRequest: (turn: number) => void
}

export function Spans({ reply, onRequest }: SpansProps) {
  const { trace, error } = useTrace(reply.id, reply.isRunning)
  if (trace) return <Waterfall trace={trace} reply={reply} onRequest={onRequest} />
  return error ? <Text fz="sm">{wordsOf(error)}</Text> : <Loader size="sm" role="img" aria-label="Loading" />
}
