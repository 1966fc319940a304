/** The demo provider (contract section 9): needs no key, says what it received, and plays every state on demand. */
import type { ModelEvent, ModelMessage, ModelRequest, Take } from '../actors/ports/index.ts'
import { pause } from '../async/pause.ts'
import { withinLimits } from './demo-limits.ts'
import { ProviderProblem } from './wire/failure.ts'

/** Milliseconds between two words: 40 and 2 words a second. */
const talkMs = 25
const slowMs = 500
const maxWords = 100_000

/** The number of words sent at once before other tasks get a turn. */
const BATCH = 256

/**
 * Plays one turn. Reports no usage, so that the estimate that replaces it can be seen too. Rejects with ProviderProblem
 * for `/fail`.
 */
export async function playDemo(request: ModelRequest, signal: AbortSignal, take: Take<ModelEvent>): Promise<void> {
  for await (const event of withinLimits(play(request, signal), request.fields ?? {})) await take([event])
}

async function* play(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const last = request.messages.at(-1)
  if (last?.role === 'tool') return yield* speak(newestResults(request.messages), talkMs, signal)
  const command = last?.role === 'user' ? /^\/(\w+)(?:\s([\s\S]*))?$/.exec(lastText(request)) : null
  if (!command) return yield* speak(describe(request), talkMs, signal)
  const [, name = '', rest = ''] = command
  switch (name) {
    case 'echo':
      return yield* speak(rest, talkMs, signal)
    case 'slow':
      return yield* count(rest, slowMs, signal)
    case 'long':
      return yield* count(rest, 0, signal)
    case 'fail':
      return yield* fail(rest, signal)
    case 'hang':
      return await aborted(signal)
    case 'tool':
      return yield* callTools(rest, request, signal)
    default:
      return yield* speak(`I do not know /${name}. ${help}`, talkMs, signal)
  }
}

const help = 'I know /echo TEXT, /slow N, /long N, /fail, /fail N, /hang and /tool NAME JSON.'

/** Returns the results of the newest turn's calls, as paragraphs. */
function newestResults(messages: readonly ModelMessage[]): string {
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1)
  return results.map(({ content }) => content).join('\n\n')
}

/**
 * Returns the newest message as it was written. In a session it may be sent after a summary and earlier messages
 * without an answer.
 */
function lastText({ messages, history }: ModelRequest): string {
  const sent = messages.at(-1)?.content ?? ''
  const asked = history?.asked ?? ''
  return asked !== '' && sent.endsWith(asked) ? asked : sent
}

function describe(request: ModelRequest): string {
  const { system, messages } = request
  const many = messages.length === 1 ? '1 message' : `${messages.length} messages`
  const opening = system?.trim().split(/\s+/, 8).join(' ')
  const prompt = opening ? `The system prompt begins: "${shorten(opening)}".` : 'There is no system prompt.'
  return `I am the demo model. I received ${many}. ${prompt} The last message is: "${shorten(lastText(request))}".${partsOf(messages.at(-1))}`
}

/** Describes the attachments of a message by kind and size. */
function partsOf(message: ModelMessage | undefined): string {
  const segments = message?.role === 'user' ? (message.segments ?? []) : []
  const parts = segments.filter((segment) => typeof segment !== 'string')
  const words = parts.map(({ filename, mediaType, size }) => `${filename ?? 'unnamed'} (${mediaType}, ${size} bytes)`)
  return words.length === 0 ? '' : ` It came with ${words.join(', ')}.`
}

function shorten(text: string): string {
  const points = Array.from(text.slice(0, 500))
  return points.length > 200 || text.length > 500 ? `${points.slice(0, 200).join('')}…` : text
}

/** Returns the words 1 to N. */
function* numbers(n: number): Generator<string> {
  for (let i = 1; i <= n; i++) yield i < n ? `${i} ` : `${i}`
}

/** Parses a count. Returns null when it is not a whole number from 1 to 100,000. */
const readCount = (text: string): number | null => {
  const n = /^\d{1,6}$/.test(text.trim()) ? Number(text) : 0
  return n >= 1 && n <= maxWords ? n : null
}

const badCount = `N must be a whole number from 1 to ${maxWords}.`

async function* count(text: string, paceMs: number, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const n = readCount(text)
  if (n === null) return yield* speak(badCount, talkMs, signal)
  yield* paced(numbers(n), paceMs, signal)
  if (!signal.aborted) yield end('stop')
}

async function* fail(text: string, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (text.trim() !== '') {
    const n = readCount(text)
    if (n === null) return yield* speak(badCount, talkMs, signal)
    yield* paced(numbers(n), talkMs, signal)
  }
  throw new ProviderProblem({ kind: 'unusable', reason: 'The demo provider failed, as it was asked to.' })
}

/** Calls the tool that the text names. Each further line that begins with `/tool` is a call of the same turn. */
async function* callTools(text: string, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const calls = text.split(/\n\/tool(?=\s)/).map((one) => {
    const [, name = '', json = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(one) ?? []
    return { name, arguments: json.trim() || '{}' }
  })
  if (calls.some(({ name }) => name === '')) return yield* speak('Say /tool NAME JSON.', talkMs, signal)
  if (request.tools.length === 0 || request.toolChoice === 'none')
    return yield* speak('No tools are offered to me.', talkMs, signal)
  const id = `call_demo_${request.messages.length}`
  for (const [n, call] of calls.entries())
    yield { type: 'tool_call', call: { id: n === 0 ? id : `${id}_${n}`, ...call } }
  yield end('tool_calls')
}

/** Splits the text into words, each with the spaces after it. Joined, they are exactly the text. */
async function* speak(text: string, paceMs: number, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  yield* paced(wordsOf(text), paceMs, signal)
  if (!signal.aborted) yield end('stop')
}

function* wordsOf(text: string): Generator<string> {
  for (const [word] of text.matchAll(/^\s+|\S+\s*/g)) yield word
}

/**
 * Yields each word when it is due. Each has a time of its own, so that a slow reader or a late timer does not slow the
 * whole down.
 */
async function* paced(words: Iterable<string>, paceMs: number, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const start = performance.now()
  let n = 0
  for (const text of words) {
    const wait = start + n++ * paceMs - performance.now()
    // A timer may fire a fraction of a millisecond early; that is no reason for another one.
    if (wait > 1 || n % BATCH === 0) await pause(Math.max(0, wait), signal)
    if (signal.aborted) return
    yield { type: 'text', text }
  }
}

const end = (reason: 'stop' | 'tool_calls'): ModelEvent => ({ type: 'end', reason, usage: null })

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
