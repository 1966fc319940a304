/**
 * Whether the right side is shown. Beside the conversation it stays as it was left; over it, where there is no room
 * beside.
 */
import { useMediaQuery } from '@mantine/hooks'
import { useState } from 'react'

const key = 'workbench-side'

/** Wide enough that the conversation keeps 690 pixels beside the panel, where the navigation is folded. */
const ROOM_BESIDE = '(min-width: 84em)'

/**
 * The widths at which panel, sessions and navigation leave the conversation less than 720 pixels, as in
 * public/color-scheme.js.
 */
const TIGHT = '(min-width: 84em) and (max-width: 98em)'

export interface Side {
  isBeside: boolean
  isOpen: boolean
  /** Whether the conversation needs the room of the navigation's words. */
  isTight: boolean
  toggle: () => void
}

export function useSide(): Side {
  const isBeside = useMediaQuery(ROOM_BESIDE, undefined, { getInitialValueInEffect: false }) === true
  const isTight = useMediaQuery(TIGHT, undefined, { getInitialValueInEffect: false }) === true
  const [isKept, setKept] = useState(() => localStorage.getItem(key) !== 'closed')
  const [isOver, setOver] = useState(false)
  const toggle = () => {
    if (!isBeside) return setOver(!isOver)
    localStorage.setItem(key, isKept ? 'closed' : 'open')
    setKept(!isKept)
  }
  return { isBeside, isOpen: isBeside ? isKept : isOver, isTight: isTight && isKept, toggle }
}
