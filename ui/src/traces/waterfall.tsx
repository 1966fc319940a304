/** A reply's spans to scale, one a line; a click opens what a span was about beside it, and a turn folds. */
import { ActionIcon, Button, Group } from '@mantine/core'
import { useCallbackRef } from '@mantine/hooks'
import { IconChevronRight } from '@tabler/icons-react'
import { type CSSProperties, useEffect, useState } from 'react'
import { ToolName } from '../agents/tool-name.tsx'
import { Copy } from '../blocks/copy.tsx'
import { useNow } from '../blocks/use-now.ts'
import { duration } from '../chart/words.ts'
import { traceAsMarkdown } from './as-markdown.ts'
import ids from './ids.module.css'
import { OpenedSpan } from './opened-span.tsx'
import { useSilence } from './silence/use-silence.ts'
import { SpanDetail } from './span-detail.tsx'
import classes from './traces.module.css'
import { ChildTraces } from './tree/child-traces.tsx'
import { SpanRow } from './tree/span-row.tsx'
import {
  type Folded,
  levelOf,
  sessionsFolded,
  type ToldReply,
  type TreeRow,
  toldMs,
  treeRows,
  turnKey,
} from './tree/tree-rows.ts'
import { foldedAtFirst, foldedWords, ticksOf, turnOf, turnsIn, within } from './turns.ts'
import type { Span, Trace, TracedReply } from './types.ts'
import { argumentWords, nowIn, requestIdOf, spanWords } from './words.ts'

interface WaterfallProps {
  trace: Trace
  reply: TracedReply
  onRequest: (turn: number) => void
  /** A moment, in milliseconds from the admission, and the span that it is about. */
  cursor?: { ms: number; span: string | null } | undefined
}

export function Waterfall({ trace, reply, onRequest, cursor }: WaterfallProps) {
  const [openKey, setOpenKey] = useState<string | null>(null)
  const { folded, setFolded, toggle } = useFolded(trace, reply.id)
  const { told, onTold } = useTold()
  useEffect(() => setOpenKey((before) => cursor?.span ?? before), [cursor?.span])
  const rows = treeRows({ reply, trace }, told, folded)
  const isRunning = rows.some(({ span }) => span.endMs === null)
  const now = useNow(isRunning)
  // What runs has no end yet: it lasts until now.
  const whole = isRunning ? Math.max(toldMs(rows), nowIn(trace, now)) : toldMs(rows)
  const silence = useSilence(reply.sessionId, trace.startedAt, reply.isRunning)
  const open = rows.find(({ key }) => key === openKey)
  const detail = open && (
    <OpenDetail key={open.key} row={open} onRequest={open.reply.id === reply.id ? onRequest : null} />
  )
  return (
    <div className={classes.waterfall}>
      <Head trace={trace} reply={reply} folded={folded} setFolded={setFolded} />
      {rows.map(
        ({ key, span, trace: of }) =>
          span.child &&
          !folded.has(span.child.sessionId) && (
            <ChildTraces key={key} call={span} trace={of} child={span.child} onTold={onTold} />
          ),
      )}
      <OpenedSpan
        name={open ? open.span.kind === 'tool' ? <ToolName seen={open.name} /> : open.name : null}
        detail={detail}
        onClose={() => setOpenKey(null)}
      >
        {(below) => (
          <div className={classes.rows}>
            <Axis whole={whole} />
            <ol aria-label="Spans of the reply" data-deep={rows.some((row) => row.level > 0) || undefined}>
              {rows.map((row) => (
                <li key={row.key}>
                  <div className={classes.line} style={indentOf(row)}>
                    <Fold row={row} folded={folded} onToggle={toggle} />
                    <SpanRow
                      row={row}
                      words={wordsBeside(row, folded)}
                      whole={whole}
                      silence={row.reply.id === reply.id ? silence : null}
                      at={cursor?.ms ?? null}
                      isOpen={row === open}
                      isCompacting={isCompacting(row.span, row.trace.spans)}
                      onClick={() => setOpenKey(row === open ? null : row.key)}
                    />
                  </div>
                  {row === open && below}
                </li>
              ))}
            </ol>
          </div>
        )}
      </OpenedSpan>
    </div>
  )
}

const indentOf = (row: TreeRow): CSSProperties & Record<'--level', number> => ({ '--level': levelOf(row) })

/** Returns the folded rows, at first turns of a long trace and sessions where many are asked. */
function useFolded({ spans }: Trace, replyId: string) {
  const [folded, setFolded] = useState<Folded>(
    () => new Set([...foldedAtFirst(spans).map((turn) => turnKey(replyId, turn)), ...sessionsFolded(spans)]),
  )
  const toggle = (key: string) => {
    const others = new Set(folded)
    if (!others.delete(key)) others.add(key)
    setFolded(others)
  }
  return { folded, setFolded, toggle }
}

/** Returns the replies of the sessions that answer calls, as far as they are known. */
function useTold() {
  const [told, setTold] = useState<ReadonlyMap<string, ToldReply>>(new Map())
  const onTold = useCallbackRef((one: ToldReply) => setTold((before) => new Map(before).set(one.reply.id, one)))
  return { told: [...told.values()], onTold }
}

interface OpenDetailProps {
  row: TreeRow
  /** Null for a reply of a session that answers a call: its page has its requests. */
  onRequest: ((turn: number) => void) | null
}

function OpenDetail({ row: { span, trace, reply }, onRequest }: OpenDetailProps) {
  const isLastAttempt = span === trace.spans.findLast(({ kind }) => kind === 'attempt')
  return <SpanDetail span={span} isLastAttempt={isLastAttempt} reply={reply} onRequest={onRequest} />
}

/** Returns whether a span is a turn that writes a summary of the conversation, or its attempt: the state chart's other state. */
const isCompacting = ({ detail, parentId }: Span, spans: readonly Span[]): boolean =>
  detail.purpose === 'summary' || spans.some(({ id, detail: of }) => id === parentId && of.purpose === 'summary')

function wordsBeside({ span, trace: { spans }, reply }: TreeRow, folded: Folded) {
  const turn = turnOf(span)
  const isFolded = span.kind === 'model' && turn !== null && folded.has(turnKey(reply.id, turn))
  const hidden = isFolded ? within(spans, turn) : []
  return [spanWords(span), argumentWords(span, reply.toolCalls), foldedWords(hidden)].filter(Boolean).join(', ')
}

interface HeadProps {
  trace: Trace
  reply: TracedReply
  folded: Folded
  setFolded: (folded: Folded) => void
}

/** The ids under which the logs have the reply, and the trace to copy. */
function Head({ trace, reply, folded, setFolded }: HeadProps) {
  const requestId = requestIdOf(trace.spans)
  const turns = turnsIn(trace.spans).map((turn) => turnKey(reply.id, turn))
  const isFolded = turns.some((turn) => folded.has(turn))
  return (
    <Group gap="2px 8px" className={ids.ids ?? ''}>
      <Id name="Reply" id={reply.id} />
      {requestId !== null && <Id name="Request" id={requestId} />}
      <span className={ids.id}>
        Markdown
        <Copy text={traceAsMarkdown(trace, reply)} label="Copy as Markdown" />
      </span>
      {turns.length > 1 && (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          onClick={() =>
            setFolded(new Set([...[...folded].filter((key) => !turns.includes(key)), ...(isFolded ? [] : turns)]))
          }
        >
          {isFolded ? 'Unfold all turns' : 'Fold all turns'}
        </Button>
      )}
    </Group>
  )
}

const Id = ({ name, id }: { name: string; id: string }) => (
  <span className={ids.id}>
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
  row: TreeRow
  folded: Folded
  onToggle: (key: string) => void
}

/** Folds a turn, or the session that answers a call. */
function Fold({ row: { span, reply, level }, folded, onToggle }: FoldProps) {
  const turn = span.kind === 'model' ? (turnOf(span) ?? 0) : null
  const key = turn === null ? span.child?.sessionId : turnKey(reply.id, turn)
  if (key === undefined) return null
  const name = turn === null ? `Session of ${span.name}` : `Turn ${turn}`
  return (
    <ActionIcon
      className={classes.fold ?? ''}
      size={24}
      variant="subtle"
      color="gray"
      aria-label={level === 0 ? name : `${name}, below`}
      aria-expanded={!folded.has(key)}
      onClick={() => onToggle(key)}
    >
      <IconChevronRight size={14} stroke={1.8} />
    </ActionIcon>
  )
}
