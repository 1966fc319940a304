/** Spans, figures and requests in words. Pure. */
import { duration } from '../chart/words.ts'
import type { ModelRequest, Span } from './types.ts'

const numberIn = ({ detail }: Span, name: string): number | null => {
  const value = detail[name]
  return typeof value === 'number' ? value : null
}

const textIn = ({ detail }: Span, name: string): string | null => {
  const value = detail[name]
  return typeof value === 'string' ? value : null
}

/** What an attempt came to: `429`, `provider_timeout`. Null while it runs, and when it went well. */
const failureOf = (span: Span): string | null =>
  span.ok === false ? String(numberIn(span, 'status') ?? textIn(span, 'code') ?? 'stopped') : null

/** Milliseconds from the admission, as spans have their beginnings and ends. */
export const firstTokenOf = (span: Span): number | null => numberIn(span, 'firstTokenMs')

/** Shown after a span's name. */
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

/** While a call waits to be made again: `Attempt 2 of 3 in 2.0 s: 429`. Null when nothing waits. */
export function waitingWords(spans: readonly Span[]): string | null {
  const last = spans.findLast(({ kind }) => kind === 'attempt')
  const wait = last && numberIn(last, 'waitMs')
  if (last === undefined || wait == null || last.endMs === null) return null
  const turn = spans.find(({ id }) => id === last.parentId)
  const made = spans.filter(({ parentId }) => parentId === last.parentId).length
  const most = turn ? numberIn(turn, 'maxAttempts') : null
  return `Attempt ${made + 1}${most === null ? '' : ` of ${most}`} in ${duration(wait)}: ${failureOf(last)}`
}

export const leftWords = ({ left }: ModelRequest): string | null =>
  left.messages === 0
    ? null
    : `${left.messages} earlier ${left.messages === 1 ? 'message was' : 'messages were'} left out of the history, about ${left.tokens.toLocaleString('en')} tokens.`

export interface Endpoint {
  type: string
  baseUrl: string
}

const shellText = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The request as a command; the key is a variable. */
export function curlOf({ body, model }: ModelRequest, { type, baseUrl }: Endpoint): string {
  const base = baseUrl.replace(/\/+$/, '')
  const lines = {
    anthropic: [`${base.replace(/\/v1$/, '')}/v1/messages`, 'x-api-key: $API_KEY', 'anthropic-version: 2023-06-01'],
    gemini: [`${base}/models/${model}:streamGenerateContent?alt=sse`, 'x-goog-api-key: $API_KEY'],
  }[type] ?? [`${base}/chat/completions`, 'authorization: Bearer $API_KEY']
  const [url = '', ...headers] = lines
  return [
    `curl ${shellText(url)}`,
    ...['content-type: application/json', ...headers].map((header) => `  -H "${header}"`),
    `  -d ${shellText(JSON.stringify(body))}`,
  ].join(' \\\n')
}
