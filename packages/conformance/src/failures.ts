/** How a check fails: with one sentence. */

/** A rule that does not hold: what was expected, and what came. */
export class Failure extends Error {}

/** An answer of the server that is a refusal. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, what: string) {
    super(`The server answered ${status} to ${what}.`)
    this.status = status
  }
}

/** Returns the status of a refusal: of any error that has one. Null for other errors. */
export const refusedWith = (error: unknown): number | null =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : null

/** Sentences of what the checks wait for, by the signals that end the waits. */
export const awaited = new WeakMap<AbortSignal, () => string>()

/** A wait that ran out. */
export class TimedOut extends Failure {}

export function expect(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new Failure(sentence)
}

/** Fails unless the texts are the same, and names the first offset at which they differ. */
export function expectText(actual: string, wanted: string, what: string): void {
  if (actual === wanted) return
  let at = 0
  while (at < actual.length && actual[at] === wanted[at]) at += 1
  const near = (text: string) => (at < text.length ? JSON.stringify(text.slice(at, at + 24)) : 'its end')
  throw new Failure(
    `${what}: expected ${wanted.length} characters and got ${actual.length}; at offset ${at} expected ${near(wanted)}, got ${near(actual)}.`,
  )
}

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN'])

/** Returns whether the server was not there at all. */
export function isUnreachable(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && unreachable.has(at.code)) return true
    if (at instanceof AggregateError && at.errors.some(isUnreachable)) return true
  }
  return false
}

/** Returns an error's words in one line. */
export function wordsOf(error: unknown): string {
  const words: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) words.push(at.message)
  return (words.length > 0 ? words.join(': ') : String(error)).replace(/\s+/g, ' ').slice(0, 500)
}
