/**
 * Whether the right side is shown. Beside the conversation it stays as it was left; over it, where there is no room
 * beside.
 */
import { useMediaQuery } from '@mantine/hooks'
import { useState } from 'react'

const key = 'workbench-side'

/** Wide enough that the conversation keeps 500 pixels beside the panel. */
const ROOM_BESIDE = '(min-width: 84em)'

export interface Side {
  isBeside: boolean
  isOpen: boolean
  toggle: () => void
}

export function useSide(): Side {
  const isBeside = useMediaQuery(ROOM_BESIDE, undefined, { getInitialValueInEffect: false }) === true
  const [isKept, setKept] = useState(() => localStorage.getItem(key) !== 'closed')
  const [isOver, setOver] = useState(false)
  const toggle = () => {
    if (!isBeside) return setOver(!isOver)
    localStorage.setItem(key, isKept ? 'closed' : 'open')
    setKept(!isKept)
  }
  return { isBeside, isOpen: isBeside ? isKept : isOver, toggle }
}
