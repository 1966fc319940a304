/** A trace as Markdown, for the record of an incident. Pure. */
import { duration } from '../chart/words.ts'
import { turnOf } from './turns.ts'
import type { Span, Trace, TracedReply } from './types.ts'
import { requestIdOf, spanWords } from './words.ts'

/** Arguments and results are cut to so many characters; the rest is in the session. */
const MOST = 2_000

export function traceAsMarkdown({ startedAt, spans }: Trace, { id, error, toolCalls }: TracedReply): string {
  const requestId = requestIdOf(spans)
  const calls = toolCalls.map(({ name, arguments: given, content }) =>
    [`### ${name}`, fenced(given), content === null ? 'No result.' : fenced(content)].join('\n\n'),
  )
  return [
    `## Reply ${id}`,
    [`Admitted ${startedAt}`, ...(requestId === null ? [] : [`request ${requestId}`])].join(', '),
    ...(error === null ? [] : [`**${error.code}**`, fenced(error.message)]),
    ['| Span | Started | Took | Outcome |', '|---|---|---|---|', ...spans.map(rowOf)].join('\n'),
    ...calls,
  ].join('\n\n')
}

function rowOf(span: Span): string {
  const { kind, name, startMs, endMs, ok } = span
  const turn = turnOf(span)
  const outcome = ok === null ? 'running' : ok ? 'ok' : 'failed'
  const cells = [
    `${kind === name ? '' : `${kind} `}${name}${turn === null ? '' : ` (turn ${turn})`}`,
    `+${duration(startMs)}`,
    endMs === null ? 'running' : duration(endMs - startMs),
    [outcome, spanWords(span)].filter((words) => words !== '').join(': '),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** Returns the text in a fence that is longer than any fence in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text.length > MOST ? `${text.slice(0, MOST)}\n…` : text}\n${fence}`
}
