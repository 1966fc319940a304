import { type FocusEvent, useLayoutEffect, useRef } from 'react'

/**
 * Gives the focus to what is beside an item that leaves its list with it, or with a dialog of its own. Returns the props
 * of the item's element.
 */
export function useFocusBeside<Item extends HTMLElement>() {
  const ref = useRef<Item>(null)
  const holds = useRef(false)
  useLayoutEffect(() => {
    const { current } = ref
    return () => {
      if (!holds.current) return
      const beside = current?.nextElementSibling ?? current?.previousElementSibling
      beside?.querySelector<HTMLElement>('a, button')?.focus()
    }
  }, [])
  return {
    ref,
    // React's events come from the dialogs of the item, too.
    onFocus() {
      holds.current = true
    },
    // A button that is disabled while it works, or a dialog that closes, gives the focus to nothing.
    onBlur({ relatedTarget }: FocusEvent) {
      holds.current = relatedTarget === null
    },
  }
}
