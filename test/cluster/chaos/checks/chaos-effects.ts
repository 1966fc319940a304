/** Compares the tool server's effects with the recorded calls (contract section 10). Pure. */
import type { Violation } from '../chaos-witness.ts'

/** A call of a stored reply; `n`: its place among the reply's calls, from 1. */
export interface StoredCall {
  reply: string
  n: number
  /** Null when its outcome is unknown. */
  ok: boolean | null
}

export interface Effects {
  /** The idempotency key of each call received by the tool server. */
  effects: readonly string[]
  calls: readonly StoredCall[]
  /** Whether this reply was deleted with its session. */
  isDeleted(replyId: string): boolean
}

/** Every effect has a recorded call, none happened twice, and every call with a successful result had an effect. */
export function checkEffects({ effects, calls, isDeleted }: Effects): Violation[] {
  const recorded = new Set(calls.map(keyOf))
  const done = new Set<string>()
  const found: Violation[] = []
  const fault = (rule: string, detail: string) => void found.push({ rule, session: '', detail })
  for (const key of effects) {
    if (done.has(key)) fault('done-once', `${key} was done twice`)
    done.add(key)
    if (!recorded.has(key) && !isDeleted(key.replace(/:\d+$/, '')))
      fault('on-record', `${key} was done, no call says so`)
  }
  for (const call of calls) {
    if (call.ok === true && !done.has(keyOf(call))) fault('was-done', `${keyOf(call)} has a result and was never done`)
  }
  return found
}

const keyOf = ({ reply, n }: StoredCall): string => `${reply}:${n}`
