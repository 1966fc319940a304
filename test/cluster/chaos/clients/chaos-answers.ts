/** What an unsuccessful response means for its message (contract sections 4 and 10). Pure. */

import type { Violation } from '../chaos-witness.ts'
import type { Try } from './chaos-requests.ts'

export interface Answered {
  status: number
  /** Null when it broke off. */
  text: string | null
  headers: Headers
  /** It came through nginx, which may have tried another instance before. */
  isBalanced: boolean
}

export function readRefusal(answered: Answered): { outcome: Try['outcome']; fault: Violation | null } {
  const { status, text, headers, isBalanced } = answered
  const said = text === null ? null : (/"error":"([^"]+)/.exec(text)?.[1] ?? '')
  const fault = (rule: string) => ({ rule, session: '', detail: `${status} ${text?.slice(0, 200)}` })
  const badFormat = said === '' ? fault('error-format') : null
  if (status === 500) {
    if (said?.startsWith('It is not known')) return { outcome: 'unknown', fault: null }
    // A generation that failed, or cannot be stored now. Other faults have neither header.
    const isGenerated = headers.get('x-should-retry') === 'false' || headers.has('retry-after')
    return isGenerated ? { outcome: 'accepted', fault: badFormat } : { outcome: 'unknown', fault: fault('status') }
  }
  // nginx does not reveal what another instance answered before. An instance's own 503 means: not stored.
  const isRefused = !isBalanced && (status < 500 || status === 503)
  return { outcome: isRefused ? 'refused' : 'unknown', fault: badFormat }
}
