/** A span as a line of the waterfall: its name, its bar to scale with its silences hatched, and how long it took. */
import { UnstyledButton } from '@mantine/core'
import type { CSSProperties } from 'react'
import { ToolName } from '../../agents/tool-name.tsx'
import { wholeSeconds } from '../../blocks/time-words.ts'
import { duration } from '../../chart/words.ts'
import { Hatch } from '../silence/hatch.tsx'
import type { Silence } from '../silence/silence.ts'
import { silencesOf } from '../silence/span-silence.ts'
import classes from '../traces.module.css'
import { ticksOf } from '../turns.ts'
import { firstTokenOf } from '../words.ts'
import type { TreeRow } from './tree-rows.ts'

interface SpanRowProps {
  row: TreeRow
  words: string
  /** Milliseconds of the whole width. */
  whole: number
  /** The silence of its reply, while that runs. */
  silence: Silence | null
  /** The spans of the cursor. */
  at: number | null
  isOpen: boolean
  isCompacting: boolean
  onClick: () => void
}

export function SpanRow({ row, words, whole, silence, at, isOpen, isCompacting, onClick }: SpanRowProps) {
  const { span, name, offsetMs } = row
  const { kind, ok } = span
  const startMs = span.startMs + offsetMs
  const endMs = span.endMs === null ? null : span.endMs + offsetMs
  const percent = (ms: number) => `${(100 * ms) / whole}%`
  const first = firstTokenOf(span)
  const silences = silencesOf(span, row.trace.spans, { ms: whole - offsetMs, silence })
  const last = silences.find(({ untilMs }) => untilMs + offsetMs === (endMs ?? whole))
  const said = [last && `silent ${wholeSeconds(last.untilMs - last.fromMs)}`, words].filter(Boolean).join(', ')
  const [, tick = whole] = ticksOf(whole)
  const style: CSSProperties & Record<'--tick', string> = { '--tick': percent(tick) }
  return (
    <UnstyledButton className={classes.span ?? ''} aria-expanded={isOpen} onClick={onClick}>
      <span className={classes.spanName} title={said || undefined}>
        {kind === 'tool' ? <ToolName seen={name} /> : name}
        {said !== '' && <small>{said}</small>}
      </span>
      <span className={classes.track} style={style} aria-hidden>
        <i
          data-kind={kind}
          data-compacts={isCompacting || undefined}
          data-ok={String(ok)}
          style={{ left: percent(startMs), width: percent((endMs ?? whole) - startMs) }}
        />
        {silences.map(({ fromMs, untilMs, level }) => (
          <Hatch key={fromMs} level={level} left={percent(fromMs + offsetMs)} width={percent(untilMs - fromMs)} />
        ))}
        {first !== null && <b style={{ left: percent(first + offsetMs) }} />}
        {at !== null && <u style={{ left: percent(Math.min(at, whole)) }} />}
      </span>
      <span className={classes.took}>
        {endMs === null && 'running, '}
        <span>{endMs === null ? wholeSeconds(whole - startMs) : duration(endMs - startMs)}</span>
      </span>
    </UnstyledButton>
  )
}
