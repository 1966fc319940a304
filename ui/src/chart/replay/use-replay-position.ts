/** The position of the replay (`?at=…`), and its playing. */
import { useEffect, useState } from 'react'
import { useSearchParams, withParams } from '../../blocks/search-params.ts'
import { type Moment, playMs } from './replay-moments.ts'

export interface ReplayPosition {
  index: number
  go: (index: number) => void
  /** Goes so many moments on from that of the address, which the page may not show yet. */
  step: (by: number) => void
  playing: boolean
  /** Plays; at the end it starts again from the beginning. */
  toggle: () => void
  speed: number
  setSpeed: (speed: number) => void
}

/** Returns the moment with most to see: the first error, or the end. */
function opening(moments: readonly Moment[]): number {
  const failed = moments.findIndex(({ state }) => state === 'error')
  return failed >= 0 ? failed : moments.length - 1
}

export function useReplayPosition(moments: readonly Moment[]): ReplayPosition {
  const [search, setSearch] = useSearchParams()
  const [playing, setPlaying] = useState(false)
  const [speed, setSpeed] = useState(1)
  const last = moments.length - 1
  const placeIn = (address: URLSearchParams) => {
    const asked = moments.findIndex(({ id }) => id === address.get('at'))
    return asked >= 0 ? asked : opening(moments)
  }
  const index = placeIn(search)
  const show = (to: (now: number) => number) =>
    setSearch(
      (before) => withParams(before, { at: moments[Math.min(Math.max(to(placeIn(before)), 0), last)]?.id ?? '' }),
      { replace: true, preventScrollReset: true },
    )
  useEffect(() => {
    // The router shows an address a while after it has changed: begun at the end, it plays once the beginning is shown.
    if (!playing || index >= last) return
    const step = () => {
      void show(() => index + 1)
      if (index + 1 >= last) setPlaying(false)
    }
    const timer = setTimeout(step, playMs(moments, index, speed))
    return () => clearTimeout(timer)
  }, [playing, index, last, speed])
  return {
    index,
    go: (next) => {
      setPlaying(false)
      void show(() => next)
    },
    step: (by) => {
      setPlaying(false)
      void show((now) => now + by)
    },
    playing,
    toggle: () => {
      if (!playing && index >= last) void show(() => 0)
      setPlaying(!playing)
    },
    speed,
    setSpeed,
  }
}
