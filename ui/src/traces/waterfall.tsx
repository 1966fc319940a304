/** A reply's spans to scale, one a line; a click opens a span's JSON. */
import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { CodeBlock } from '../blocks/code-block.tsx'
import { duration } from '../chart/words.ts'
import classes from './traces.module.css'
import type { Span, Trace } from './types.ts'
import { firstTokenOf, spanWords } from './words.ts'

const depth: Record<string, number> = { reply: 0, model: 1, tool: 1, settle: 1, attempt: 2 }

export function Waterfall({ trace: { spans } }: { trace: Trace }) {
  const [openId, setOpenId] = useState<string | null>(null)
  const whole = Math.max(1, ...spans.flatMap(({ startMs, endMs }) => [startMs, endMs ?? 0]))
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
  const took = endMs === null ? 'runs' : duration(endMs - startMs)
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
