/** A reply's spans to scale, one a line; a click opens a span's JSON. */
import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { CodeBlock } from '../blocks/code-block.tsx'
import { wholeSeconds } from '../blocks/time-words.ts'
import { useNow } from '../blocks/use-now.ts'
import { duration } from '../chart/words.ts'
import classes from './traces.module.css'
import type { Span, Trace } from './types.ts'
import { firstTokenOf, nowIn, spanWords } from './words.ts'

const depth: Record<string, number> = { reply: 0, model: 1, tool: 1, settle: 1, attempt: 2 }

export function Waterfall({ trace }: { trace: Trace }) {
  const { spans } = trace
  const [openId, setOpenId] = useState<string | null>(null)
  const isRunning = spans.some(({ endMs }) => endMs === null)
  const now = useNow(isRunning)
  const told = Math.max(1, ...spans.flatMap(({ startMs, endMs }) => [startMs, endMs ?? 0]))
  // What runs has no end yet: it lasts until now.
  const whole = isRunning ? Math.max(told, nowIn(trace, now)) : told
  const open = spans.find(({ id }) => id === openId)
  return (
    <div className={classes.waterfall}>
      <ol aria-label="Spans of the reply">
        {spans.map((span) => (
          <li key={span.id}>
            <SpanRow
              span={span}
              whole={whole}
              isOpen={span.id === openId}
              onClick={() => setOpenId(span.id === openId ? null : span.id)}
            />
          </li>
        ))}
      </ol>
      {open && <CodeBlock code={JSON.stringify(open, null, 2)} caption={`Span ${open.name}`} />}
    </div>
  )
}

interface SpanRowProps {
  span: Span
  /** Milliseconds of the whole width. */
  whole: number
  isOpen: boolean
  onClick: () => void
}

function SpanRow({ span, whole, isOpen, onClick }: SpanRowProps) {
  const { kind, name, startMs, endMs, ok } = span
  const percent = (ms: number) => `${(100 * ms) / whole}%`
  const first = firstTokenOf(span)
  const words = spanWords(span)
  const took = endMs === null ? `running, ${wholeSeconds(whole - startMs)}` : duration(endMs - startMs)
  return (
    <UnstyledButton className={classes.span ?? ''} aria-expanded={isOpen} onClick={onClick}>
      <span className={classes.spanName} style={{ paddingInlineStart: `${(depth[kind] ?? 0) * 14}px` }}>
        {name}
        {words !== '' && <small>{words}</small>}
      </span>
      <span className={classes.track} aria-hidden>
        <i
          data-kind={kind}
          data-ok={String(ok)}
          style={{ left: percent(startMs), width: percent((endMs ?? whole) - startMs) }}
        />
        {first !== null && <b style={{ left: percent(first) }} />}
      </span>
      <span className={classes.took}>{took}</span>
    </UnstyledButton>
  )
}
