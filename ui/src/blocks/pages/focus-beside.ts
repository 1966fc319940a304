import { useLayoutEffect, useRef } from 'react'

/** Gives the focus to what is beside an item when that leaves its list with it. Returns the item's ref. */
export function useFocusBeside<Item extends HTMLElement>() {
  const item = useRef<Item>(null)
  useLayoutEffect(() => {
    const { current } = item
    return () => {
      if (!current?.contains(document.activeElement)) return
      const beside = current.nextElementSibling ?? current.previousElementSibling
      beside?.querySelector<HTMLElement>('a, button')?.focus()
    }
  }, [])
  return item
}
