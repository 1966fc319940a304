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
    if (found.outcome === 'unknown') throw new Error('It is not known yet.')
    return found.outcome === 'admitted' ? found : null
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
