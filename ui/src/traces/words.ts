/** Spans, figures and requests in words. Pure. */
import { writeExact } from '../../../src/untrusted/exact-json.ts'
import { plural } from '../blocks/words.ts'
import { duration } from '../chart/words.ts'
import type { ModelRequest, Span, Trace, TracedReply } from './types.ts'

export const numberIn = ({ detail }: Span, name: string): number | null => {
  const value = detail[name]
  return typeof value === 'number' ? value : null
}

const textIn = ({ detail }: Span, name: string): string | null => {
  const value = detail[name]
  return typeof value === 'string' ? value : null
}

/** Returns the failure of an attempt: `429`, `provider_timeout`. Null while it runs, and when it went well. */
const failureOf = (span: Span): string | null =>
  span.ok === false ? String(numberIn(span, 'status') ?? textIn(span, 'code') ?? 'stopped') : null

/** Returns milliseconds from the admission, as spans have their beginnings and ends. */
export const firstTokenOf = (span: Span): number | null => numberIn(span, 'firstTokenMs')

/** Returns a span's name as people read it. */
export const spanName = ({ kind, name }: Span): string => (kind === 'settle' ? 'saved' : name)

/** Returns the words after a span's name. */
export function spanWords(span: Span): string {
  const failure = span.kind === 'attempt' || span.kind === 'model' ? failureOf(span) : null
  const wait = numberIn(span, 'waitMs')
  const first = firstTokenOf(span)
  return [
    failure ?? '',
    wait === null ? '' : `again after ${duration(wait)}`,
    first === null ? '' : `first token after ${duration(Math.max(0, first - span.startMs))}`,
  ]
    .filter((words) => words !== '')
    .join(', ')
}

/** Returns the `x-request-id` of the request for the reply, or null if it is not known. */
export function requestIdOf(spans: readonly Span[]): string | null {
  const reply = spans.find(({ kind }) => kind === 'reply')
  return reply ? textIn(reply, 'requestId') : null
}

/** Returns the beginning of a tool call's arguments; empty for other spans. */
export function argumentWords({ kind, detail }: Span, calls: TracedReply['toolCalls']): string {
  const call = kind === 'tool' ? calls.find(({ id }) => id === detail.callId) : undefined
  return call === undefined || call.arguments === '{}' ? '' : call.arguments.slice(0, 120).replaceAll(/\s+/g, ' ')
}

/** Names of what a span's detail holds; milliseconds are told as durations. */
const factNames: Readonly<Record<string, string>> = {
  status: 'HTTP status',
  code: 'Code',
  firstTokenMs: 'First token at',
  waitMs: 'Next attempt after',
  model: 'Model',
  maxAttempts: 'Attempts at most',
  idleTimeoutMs: 'Gives up after',
  finishReason: 'Finish reason',
  decidedBy: 'Decided by',
  decision: 'Decision',
  reason: 'Reason',
  from: 'From server',
  purpose: 'Purpose',
  requestId: 'Request id',
  missingTools: 'Missing tools',
}

const missingWords = (value: unknown): string =>
  Array.isArray(value) ? value.map((one) => `${one.server} (${one.reason})`).join(', ') : ''

export function factsOf({ kind, startMs, endMs, detail }: Span): [name: string, value: string][] {
  const told = Object.entries(factNames).flatMap(([key, name]): [string, string][] => {
    const value = detail[key]
    if (value == null) return []
    if (key === 'missingTools') return [[name, missingWords(value)]]
    return [[name, typeof value === 'number' && key.endsWith('Ms') ? duration(value) : String(value)]]
  })
  const times: [string, string][] = [
    ['Started at', startMs === 0 ? '0' : duration(startMs)],
    ['Took', endMs === null ? 'still running' : duration(endMs - startMs)],
  ]
  return [['Kind', kind], ...times, ...told]
}

/** Returns the words for a call that waits to be made again: `Attempt 2 of 3 in 2.0 s: 429`. Null when none waits. */
export function waitingWords(spans: readonly Span[]): string | null {
  const last = spans.findLast(({ kind }) => kind === 'attempt')
  const wait = last && numberIn(last, 'waitMs')
  if (last === undefined || wait == null || last.endMs === null) return null
  const turn = spans.find(({ id }) => id === last.parentId)
  const made = spans.filter(({ parentId }) => parentId === last.parentId).length
  const most = turn ? numberIn(turn, 'maxAttempts') : null
  return `Attempt ${made + 1}${most === null ? '' : ` of ${most}`} in ${duration(wait)}: ${failureOf(last)}`
}

/** Returns the position of `now` in the trace, in milliseconds from the admission; never before a recorded event. */
export const nowIn = ({ startedAt, spans }: Trace, now: number): number =>
  Math.max(0, now - Date.parse(startedAt), ...spans.flatMap(({ startMs, endMs }) => [startMs, endMs ?? 0]))

export const leftWords = ({ left }: ModelRequest): string | null =>
  left.messages === 0
    ? null
    : `${left.messages} earlier ${left.messages === 1 ? 'message was' : 'messages were'} left out of the history, about ${plural(left.tokens, 'token')}.`

export interface Endpoint {
  type: string
  baseUrl: string
}

const shellText = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * Returns the request as a command; the key is a variable. Its body tells the API, which its provider may have changed
 * since.
 */
export function curlOf({ body, model }: ModelRequest, { type, baseUrl }: Endpoint): string {
  const base = baseUrl.replace(/\/+$/, '')
  const lines = {
    anthropic: [`${base.replace(/\/v1$/, '')}/v1/messages`, 'x-api-key: $API_KEY', 'anthropic-version: 2023-06-01'],
    gemini: [`${base}/models/${model}:streamGenerateContent?alt=sse`, 'x-goog-api-key: $API_KEY'],
  }[type] ?? [`${base}/${'input' in body ? 'responses' : 'chat/completions'}`, 'authorization: Bearer $API_KEY']
  const [url = '', ...headers] = lines
  return [
    `curl ${shellText(url)}`,
    ...['content-type: application/json', ...headers].map((header) => `  -H "${header}"`),
    `  -d ${shellText(writeExact(body))}`,
  ].join(' \\\n')
}
