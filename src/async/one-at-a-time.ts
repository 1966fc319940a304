/** Work that one of all instances does at a time, without a lock that would hold a connection meanwhile. */
import { pause } from './pause.ts'

export interface Turn<Claim, Result> {
  /** Returns the result where the work is done already, or there is none left. Null while it is needed. */
  done(): Promise<{ result: Result } | null>
  /** Claims the work for some seconds. Null: another one has it. */
  claim(): Promise<Claim | null>
  /** Does the work, and ends the claim. */
  work(claim: Claim): Promise<Result>
  /** Milliseconds for which others are waited for. */
  withinMs: number
  /** Returns the result for one that has waited so long. */
  late(): Result
}

const LOOK_MS = 100

/** Does the work, or waits until another one has done it. */
export async function oneAtATime<Claim, Result>(turn: Turn<Claim, Result>): Promise<Result> {
  for (const until = performance.now() + turn.withinMs; performance.now() < until; await pause(LOOK_MS)) {
    const found = await turn.done()
    if (found !== null) return found.result
    const claim = await turn.claim()
    if (claim !== null) return await turn.work(claim)
  }
  return turn.late()
}

/** Shares running work: calls with the same key while it runs get its result. */
export function createShared<Result>(): (key: string, work: () => Promise<Result>) => Promise<Result> {
  const running = new Map<string, Promise<Result>>()
  return (key, work) => {
    const one = running.get(key) ?? work().finally(() => running.delete(key))
    running.set(key, one)
    return one
  }
}
