/**
 * Whether the navigation is folded to its icons: as the reader has chosen in this browser, and otherwise where a page needs the
 * room.
 */
import { useHotkeys } from '@mantine/hooks'
import { useLayoutEffect, useState, useSyncExternalStore } from 'react'

/** The name that public/color-scheme.js reads before the first frame. */
const key = 'side'

const isMarked = (): boolean => document.documentElement.hasAttribute('data-folded')

const room = { isNeeded: localStorage.getItem(key) === null && isMarked(), listeners: new Set<() => void>() }

const setNeeded = (isNeeded: boolean) => {
  room.isNeeded = isNeeded
  for (const listener of room.listeners) listener()
}

const subscribe = (listener: () => void) => {
  room.listeners.add(listener)
  return () => void room.listeners.delete(listener)
}

/** Folds the navigation while the page needs its room, unless the reader has chosen otherwise. */
export function useRoomOfSide(isNeeded: boolean) {
  useLayoutEffect(() => {
    setNeeded(isNeeded)
    return () => setNeeded(false)
  }, [isNeeded])
}

export function useSideFold(): { isFolded: boolean; toggle: () => void } {
  const isNeeded = useSyncExternalStore(subscribe, () => room.isNeeded)
  const [choice, setChoice] = useState(() => localStorage.getItem(key))
  const isFolded = choice === null ? isNeeded : choice === 'folded'
  useLayoutEffect(() => void document.documentElement.toggleAttribute('data-folded', isFolded), [isFolded])
  const toggle = () => {
    // Back to what the page would do itself: no choice, so that the next page does what suits it.
    const chosen = isFolded === isNeeded ? (isFolded ? 'open' : 'folded') : null
    if (chosen === null) localStorage.removeItem(key)
    else localStorage.setItem(key, chosen)
    setChoice(chosen)
  }
  useHotkeys([['[', toggle]])
  return { isFolded, toggle }
}
