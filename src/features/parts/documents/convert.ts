/**
 * Converts documents to text, each in a process that can be killed: a crafted one may take any time and memory. Nothing
 * here holds a document: its bytes go to the process as they are read.
 */
import { pipeline } from 'node:stream/promises'
import { answerOf, startProcess, yieldToReplies } from '../../../async/isolated-worker.ts'
import { createSemaphore } from '../../../async/semaphore.ts'
import type { DocumentFault } from './child/archive.ts'
import type { DocumentAnswer } from './child/document-child.ts'

/** The text in UTF-8, or why there is none. `other`: the bytes are no Word or Excel document. */
type Converted = { mediaType: string; text: Buffer } | { fault: string } | 'other'

export interface DocumentLimits {
  ms: number
  /** The limit of the process's heap: with the document and the program itself it takes at most 256 MiB. */
  heapMegabytes: number
  /** The largest document. Its pictures count, although they are not unpacked. */
  bytes: number
}

const defaultLimits: DocumentLimits = { ms: 20_000, heapMegabytes: 128, bytes: 128 * 2 ** 20 }

/** Documents that are converted at a time. */
const converting = createSemaphore(2)
const never = new AbortController().signal

const words: Readonly<Record<Exclude<DocumentFault, 'other'>, string>> = {
  broken: 'is a broken document',
  encrypted: 'is encrypted',
  unpacked: 'unpacks to more than 200 MiB',
  memory: 'takes more than 256 MiB of memory to be read',
}
const TOO_LARGE = { fault: 'is too large a document' }
const TOO_LONG = { fault: 'takes more than 20 s to be read' }

/** Converts a document of this size. `of`: who brings it. Rejects with what `chunks` throws. */
export async function convertDocument(
  { size, chunks, of }: { size: number; chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>; of?: string },
  limits: DocumentLimits = defaultLimits,
): Promise<Converted> {
  if (size > limits.bytes) return TOO_LARGE
  using _permit = await converting.acquire(never, of)
  const file = new URL('./child/document-child.ts', import.meta.url)
  const child = startProcess(file, limits.heapMegabytes, ['pipe', 'pipe', 'ignore', 'ipc'])
  const { promise, resolve, reject } = Promise.withResolvers<Converted>()
  const output: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk))
  let unread: unknown = null
  const input = async function* () {
    yield sizeHead(size)
    try {
      yield* chunks
    } catch (error) {
      unread = error
      throw error
    }
  }
  if (child.stdin) pipeline(input, child.stdin).catch(() => void (unread !== null && reject(unread))) // else it has answered
  child.on('error', reject)
  child.on('close', (code) => {
    if (unread === null) resolve(code === 0 ? read(Buffer.concat(output)) : { fault: words.memory })
  })
  yieldToReplies(child)
  const late = new Error('The document takes too long.')
  return await answerOf(child, promise, { deadlineMs: limits.ms, late: () => late }).catch((error: unknown) => {
    if (error === late) return TOO_LONG
    throw error
  })
}

function sizeHead(size: number): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(size)
  return head
}

function read(output: Buffer): Converted {
  const lineEnd = output.indexOf(10)
  const answer: DocumentAnswer = JSON.parse(output.toString('utf8', 0, lineEnd))
  if ('mediaType' in answer) return { mediaType: answer.mediaType, text: output.subarray(lineEnd + 1) }
  return answer.fault === 'other' ? 'other' : { fault: words[answer.fault] }
}
