/**
 * Converts pages to Markdown, each in a process that can be killed: a crafted page can take hours or gigabytes, and a
 * thread that runs out of memory takes the whole process with it ("<" five million times, despite resourceLimits).
 */
import { pipeline } from 'node:stream/promises'
import { answerOf, startProcess, yieldToReplies } from '../../async/isolated-worker.ts'
import { createSemaphore } from '../../async/semaphore.ts'
import type { MarkdownJob } from './markdown-child.ts'

/** The reason why a page was not converted, for the model. */
export class MarkdownError extends Error {
  override name = 'MarkdownError'
}

export interface MarkdownLimits {
  timeoutMs: number
  /** The limit of the process's heap. */
  maxMegabytes: number
}

/**
 * The limits of one conversion. 5 MiB of ordinary paragraphs with links take 4.5 s and 310 MB, 9 s on two busy cores;
 * an ordinary page 0.3 s.
 */
const defaultLimits: MarkdownLimits = { timeoutMs: 14_000, maxMegabytes: 512 }

/** The number of pages converted at a time. More are queued. */
const semaphore = createSemaphore(2)

export interface Page extends Omit<MarkdownJob, 'timeoutMs'> {
  /** The pieces as received: joining and decoding 5 MiB here would block the event loop. */
  chunks: readonly Uint8Array[]
}

/** Converts a page. `of`: who asks. Rejects with MarkdownError, or with the signal's reason. */
export async function htmlToMarkdown(
  page: Page,
  { of, signal }: { of: string; signal: AbortSignal },
  limits: MarkdownLimits = defaultLimits,
): Promise<string> {
  using _permit = await semaphore.acquire(signal, of)
  return await convert(page, signal, limits)
}

async function convert({ chunks, ...page }: Page, signal: AbortSignal, limits: MarkdownLimits): Promise<string> {
  signal.throwIfAborted()
  const file = new URL('./markdown-child.ts', import.meta.url)
  const child = startProcess(file, limits.maxMegabytes, ['pipe', 'pipe', 'ignore', 'ipc'])
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const output: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk))
  const job: MarkdownJob = { ...page, timeoutMs: limits.timeoutMs }
  if (child.stdin) pipeline(inputOf(job, chunks), child.stdin).catch(() => {}) // it exited early: the exit code says why
  child.on('error', () => reject(new MarkdownError('Pages cannot be read now.')))
  child.on('close', (code) => {
    if (code === 0) resolve(Buffer.concat(output).toString())
    else reject(new MarkdownError('The page is too large or too tangled to be read.'))
  })
  yieldToReplies(child)
  const late = () => new MarkdownError('The page takes too long to read.')
  // One more second for its start, so that its own limit fires first.
  return await answerOf(child, promise, { deadlineMs: limits.timeoutMs + 1000, signal, late })
}

function* inputOf(job: MarkdownJob, chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(job)}\n`)
  yield* chunks
}
