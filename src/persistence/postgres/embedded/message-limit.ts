/** Rate-limited messages of the embedded server: with a full disk it repeats one several times a second. */
import { LRUCache } from 'lru-cache'

const REPEAT_MS = 60_000

/** More different messages than a server has while it is in trouble. */
const MOST_KNOWN = 100

/** Leaves out a line whose `message` came less than a minute ago. */
export function limitRepeats(say: (line: string) => void, now: () => number = () => performance.now()) {
  const saidAt = new LRUCache<string, number>({ max: MOST_KNOWN })
  return (line: string, message: string): void => {
    if (now() - (saidAt.get(message) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return
    saidAt.set(message, now())
    say(line)
  }
}
