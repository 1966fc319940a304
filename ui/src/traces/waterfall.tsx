/** A reply's spans to scale, one a line; a click opens what a span was about beside it, and a turn folds. */
import { ActionIcon, Button, Group, UnstyledButton } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { type CSSProperties, useEffect, useState } from 'react'
import { Copy } from '../blocks/copy.tsx'
import { wholeSeconds } from '../blocks/time-words.ts'
import { useNow } from '../blocks/use-now.ts'
import { duration } from '../chart/words.ts'
import { traceAsMarkdown } from './as-markdown.ts'
import { OpenedSpan } from './opened-span.tsx'
import { SpanDetail } from './span-detail.tsx'
import classes from './traces.module.css'
import { foldedAtFirst, foldedWords, ticksOf, turnOf, turnsIn, within } from './turns.ts'
import type { Span, Trace, TracedReply } from './types.ts'
import { argumentWords, firstTokenOf, nowIn, requestIdOf, spanName, spanWords } from './words.ts'

const depth: Record<string, number> = { reply: 0, model: 1, tool: 2, settle: 1, attempt: 2, handover: 1 }

interface WaterfallProps {
  trace: Trace
  reply: TracedReply
  onRequest: (turn: number) => void
  /** A moment, in milliseconds from the admission, and the span that it is about. */
  cursor?: { ms: number; span: string | null } | undefined
}

export function Waterfall({ trace, reply, onRequest, cursor }: WaterfallProps) {
  const { spans } = trace
  const [openId, setOpenId] = useState<string | null>(null)
  const [folded, setFolded] = useState<readonly number[]>(() => foldedAtFirst(spans))
  useEffect(() => setOpenId((before) => cursor?.span ?? before), [cursor?.span])
  const isRunning = spans.some(({ endMs }) => endMs === null)
  const now = useNow(isRunning)
  const told = Math.max(1, ...spans.flatMap(({ startMs, endMs }) => [startMs, endMs ?? 0]))
  // What runs has no end yet: it lasts until now.
  const whole = isRunning ? Math.max(told, nowIn(trace, now)) : told
  const lastAttempt = spans.findLast(({ kind }) => kind === 'attempt')
  const toggle = (turn: number) =>
    setFolded(folded.includes(turn) ? folded.filter((one) => one !== turn) : [...folded, turn])
  const shown = spans.filter((span) => span.kind === 'model' || !folded.includes(turnOf(span) ?? 0))
  const open = shown.find(({ id }) => id === openId)
  const detail = open && (
    <SpanDetail key={open.id} span={open} isLastAttempt={open === lastAttempt} reply={reply} onRequest={onRequest} />
  )
  return (
    <div className={classes.waterfall}>
      <Head trace={trace} reply={reply} folded={folded} setFolded={setFolded} />
      <OpenedSpan name={open ? spanName(open) : null} detail={detail} onClose={() => setOpenId(null)}>
        {(below) => (
          <div className={classes.rows}>
            <Axis whole={whole} />
            <ol aria-label="Spans of the reply">
              {shown.map((span) => (
                <li key={span.id}>
                  <div className={classes.line}>
                    {span.kind === 'model' && (
                      <Fold turn={turnOf(span) ?? 0} isFolded={folded.includes(turnOf(span) ?? 0)} onToggle={toggle} />
                    )}
                    <SpanRow
                      span={span}
                      words={wordsBeside(span, spans, reply, folded)}
                      whole={whole}
                      at={cursor?.ms ?? null}
                      isOpen={span === open}
                      isCompacting={isCompacting(span, spans)}
                      onClick={() => setOpenId(span === open ? null : span.id)}
                    />
                  </div>
                  {span === open && below}
                </li>
              ))}
            </ol>
          </div>
        )}
      </OpenedSpan>
    </div>
  )
}

/** Returns whether a span is a turn that writes a summary of the conversation, or its attempt: the state chart's other state. */
const isCompacting = ({ detail, parentId }: Span, spans: readonly Span[]): boolean =>
  detail.purpose === 'summary' || spans.some(({ id, detail: of }) => id === parentId && of.purpose === 'summary')

function wordsBeside(span: Span, spans: readonly Span[], { toolCalls }: TracedReply, folded: readonly number[]) {
  const turn = turnOf(span)
  const hidden = span.kind === 'model' && turn !== null && folded.includes(turn) ? within(spans, turn) : []
  return [spanWords(span), argumentWords(span, toolCalls), foldedWords(hidden)].filter(Boolean).join(', ')
}

interface HeadProps {
  trace: Trace
  reply: TracedReply
  folded: readonly number[]
  setFolded: (turns: readonly number[]) => void
}

/** The ids under which the logs have the reply, and the trace to copy. */
function Head({ trace, reply, folded, setFolded }: HeadProps) {
  const requestId = requestIdOf(trace.spans)
  const turns = turnsIn(trace.spans)
  return (
    <Group gap="2px 10px" className={classes.ids ?? ''}>
      <Id name="Reply" id={reply.id} />
      {requestId !== null && <Id name="Request" id={requestId} />}
      <span className={classes.id}>
        Markdown
        <Copy text={traceAsMarkdown(trace, reply)} label="Copy as Markdown" />
      </span>
      {turns.length > 1 && (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          onClick={() => setFolded(folded.length > 0 ? [] : turns)}
        >
          {folded.length > 0 ? 'Unfold all turns' : 'Fold all turns'}
        </Button>
      )}
    </Group>
  )
}

const Id = ({ name, id }: { name: string; id: string }) => (
  <span className={classes.id}>
    {name} <code title={id}>{id}</code>
    <Copy text={id} label={`Copy the ${name.toLowerCase()} id`} />
  </span>
)

const Axis = ({ whole }: { whole: number }) => (
  <div className={classes.axis} aria-hidden>
    <div>
      {ticksOf(whole).map((ms) => (
        <span key={ms} style={{ left: `${(100 * ms) / whole}%` }}>
          {ms === 0 ? '0' : duration(ms)}
        </span>
      ))}
    </div>
  </div>
)

interface FoldProps {
  turn: number
  isFolded: boolean
  onToggle: (turn: number) => void
}

const Fold = ({ turn, isFolded, onToggle }: FoldProps) => (
  <ActionIcon
    className={classes.fold ?? ''}
    size={24}
    variant="subtle"
    color="gray"
    aria-label={`Turn ${turn}`}
    aria-expanded={!isFolded}
    onClick={() => onToggle(turn)}
  >
    <IconChevronRight size={14} stroke={1.8} />
  </ActionIcon>
)

interface SpanRowProps {
  span: Span
  words: string
  /** Milliseconds of the whole width. */
  whole: number
  /** The spans of the cursor. */
  at: number | null
  isOpen: boolean
  isCompacting: boolean
  onClick: () => void
}

function SpanRow({ span, words, whole, at, isOpen, isCompacting, onClick }: SpanRowProps) {
  const { kind, startMs, endMs, ok } = span
  const percent = (ms: number) => `${(100 * ms) / whole}%`
  const first = firstTokenOf(span)
  const took = endMs === null ? `running, ${wholeSeconds(whole - startMs)}` : duration(endMs - startMs)
  const [, tick = whole] = ticksOf(whole)
  const style: CSSProperties & Record<'--tick', string> = { '--tick': percent(tick) }
  return (
    <UnstyledButton className={classes.span ?? ''} aria-expanded={isOpen} onClick={onClick}>
      <span className={classes.spanName} style={{ paddingInlineStart: `${(depth[kind] ?? 0) * 14}px` }}>
        {spanName(span)}
        {words !== '' && <small>{words}</small>}
      </span>
      <span className={classes.track} style={style} aria-hidden>
        <i
          data-kind={kind}
          data-compacts={isCompacting || undefined}
          data-ok={String(ok)}
          style={{ left: percent(startMs), width: percent((endMs ?? whole) - startMs) }}
        />
        {first !== null && <b style={{ left: percent(first) }} />}
        {at !== null && <u style={{ left: percent(Math.min(at, whole)) }} />}
      </span>
      <span className={classes.took}>{took}</span>
    </UnstyledButton>
  )
}
