/**
 * Counts tokens as OpenAI's newer models do (o200k_base), an estimate for all other models. This thread, run by
 * token-count.ts, takes one CountJob at a time and answers each with its counts, or the first of them.
 */
import { parentPort } from 'node:worker_threads'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

export interface CountJob {
  texts: readonly string[]
  /** The time after which the answer is no longer awaited. Milliseconds. */
  timeoutMs: number
}

/** The longest text that is counted exactly. Longer ones are sampled. */
const exactLength = 8192
/**
 * The length of a piece. The encoder's cost grows with the square of an unbroken run: 16,000 ideographs take a second,
 * 16 × 512 take 40 ms.
 */
const pieceLength = 512
const samples = 16

parentPort?.on('message', ({ texts, timeoutMs }: CountJob) => {
  const until = performance.now() + timeoutMs
  const counts: number[] = []
  for (const text of texts) {
    // Ten thousand texts of the costliest kind would keep the next reply's job waiting for minutes.
    if (performance.now() > until) break
    counts.push(countIn(text))
  }
  parentPort?.postMessage(counts)
})
parentPort?.postMessage('ready')

// Text that looks like a special token is text; the encoder's default is to throw.
const options = { disallowedSpecial: new Set<string>() }
const count = (piece: string) => countTokens(piece, options)

/**
 * Counts the tokens of a text. Exact but for the seams up to 8 Ki characters; beyond that, from samples spread evenly,
 * so that any text costs alike.
 */
function countIn(text: string): number {
  if (text.length <= exactLength) {
    let tokens = 0
    for (let at = 0; at < text.length; ) {
      const end = seamAfter(text, at)
      tokens += count(text.slice(at, end))
      at = end
    }
    return tokens
  }
  let tokens = 0
  const stride = (text.length - pieceLength) / (samples - 1)
  for (let i = 0; i < samples; i++) {
    const at = Math.floor(i * stride)
    tokens += count(text.slice(at, at + pieceLength))
  }
  return Math.round((tokens * text.length) / (samples * pieceLength))
}

/**
 * Returns where to cut the piece: before its last space, where words begin for the encoder too; anywhere when it has
 * none.
 */
function seamAfter(text: string, at: number): number {
  const end = at + pieceLength
  if (end >= text.length) return text.length
  const space = text.lastIndexOf(' ', end)
  return space > at ? space : end
}
