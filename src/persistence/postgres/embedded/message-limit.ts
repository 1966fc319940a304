/** Rate-limited messages of the embedded server: with a full disk it repeats one several times a second. */

const REPEAT_MS = 60_000

/** More different messages than a server has while it is in trouble. */
const MOST_KNOWN = 100

/** Leaves out a line whose `message` came less than a minute ago. */
export function limitRepeats(say: (line: string) => void, now: () => number = () => performance.now()) {
  const saidAt = new Map<string, number>()
  return (line: string, message: string): void => {
    if (now() - (saidAt.get(message) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return
    if (saidAt.size >= MOST_KNOWN) saidAt.clear()
    saidAt.set(message, now())
    say(line)
  }
}
