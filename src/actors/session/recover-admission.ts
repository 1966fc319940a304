/** Finds out whether a message was stored after its admission's response was lost (the client already got 500). */

import { retry } from '../../async/retry.ts'
import { unlessAborted } from '../../async/unless-aborted.ts'
import type { Admission, Admitted } from '../ports/index.ts'

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 500

/**
 * Looks, by the reply's id, until the message proves to be stored, or never to be. Null when it is not, it is another's to
 * answer for, or it has ended already. Null too after `ms`, however long a look hangs: a message that is stored later
 * is an orphan, and settled as one. `look` must store nothing.
 */
export async function findAdmitted(look: () => Promise<Admission>, ms: number): Promise<Admitted | null> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ms)
  const lookOnce = async (): Promise<Admitted | null> => {
    const found = await look()
    if (found.outcome === 'admitted') return found
    if (isSettled[found.outcome]) return null
    throw new Error('It is not known yet.')
  }
  const looks = { firstMs: FIRST_WAIT_MS, longestMs: LONGEST_WAIT_MS, mayPass: () => true, signal: late.signal }
  try {
    return await unlessAborted(retry(lookOnce, looks), late.signal)
  } catch {
    return null // too late
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the answer to a look stands for ever. Else the lost call may still be on its way to the server. */
const isSettled = {
  joined: true,
  queued: true, // it begins like every other that waits
  key_reused: true,
  not_found: true,
  fenced: true,
  revoked: true,
  not_waiting: true,
  too_many_remembered: true,
  decided_in_part: true,
  session_full: false,
  user_full: false,
  too_many_sessions: false,
  busy: false,
  parent_waits: false,
  queue_full: false,
  refused: false,
  stale: false,
  pinned: false,
  unknown: false,
  unknown_parent: true,
  unknown_message: true,
  nothing_to_answer: false,
  limited: false,
} satisfies Record<Exclude<Admission['outcome'], 'admitted'>, boolean>
