/** What became of an admission whose answer was lost. Its client has been answered; it is only looked for. */
import type { Admission, Admitted } from '../ports/index.ts'

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 500

/**
 * Looks, by the reply's id, until the message proves to be stored, or never to be. Null: it is not, it is another's to
 * answer for, or it has ended already. Null too after `ms`, however long a look hangs: a message that is stored later
 * is an orphan, and settled as one. `look` must store nothing.
 */
export async function findAdmitted(look: () => Promise<Admission>, ms: number): Promise<Admitted | null> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ms)
  const isLate = new Promise<null>((resolve) => late.signal.addEventListener('abort', () => resolve(null)))
  try {
    for (let wait = FIRST_WAIT_MS; !late.signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      const found = await Promise.race([look().catch(() => null), isLate])
      if (found !== null && !late.signal.aborted) {
        if (found.outcome === 'admitted') return found
        if (isSettled[found.outcome]) return null
      }
      await Promise.race([new Promise((resolve) => setTimeout(resolve, wait)), isLate])
    }
    return null
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the answer to a look stands for ever. Else the lost call may still be on its way to the server. */
const isSettled = {
  joined: true,
  key_reused: true,
  not_found: true,
  fenced: true,
  revoked: true,
  not_waiting: true,
  busy: false,
  refused: false,
  stale: false,
  unknown: false,
  unknown_parent: true,
  unknown_message: true,
  nothing_to_answer: false,
} satisfies Record<Exclude<Admission['outcome'], 'admitted'>, boolean>
