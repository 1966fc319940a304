import { useEffect, useRef, useState } from 'react'
import type { Step } from '../step.ts'

/** Some states last a millisecond: each is shown long enough to be seen. */
const seenMs = 550
/** The queue length above which steps are shown faster. */
const maxBehind = 8

/** Returns how many of the steps are shown: the `known` ones at once, what comes after them one by one. */
export function usePaced(steps: readonly Step[], known: number): number {
  const [seq, setSeq] = useState<number | null>(null)
  const shownAt = useRef(0)
  const behind = seq === null ? known : steps.findIndex((step) => step.seq > seq)
  const count = behind === -1 ? steps.length : behind
  const next = steps[count]?.seq
  const isBehind = steps.length - count > maxBehind
  useEffect(() => {
    if (next === undefined) return
    const show = () => {
      shownAt.current = performance.now()
      setSeq(next)
    }
    const dwell = isBehind ? seenMs / 5 : seenMs
    const timer = setTimeout(show, Math.max(0, shownAt.current + dwell - performance.now()))
    return () => clearTimeout(timer)
  }, [next, isBehind])
  return count
}
