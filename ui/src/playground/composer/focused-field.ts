/** The keyboard's focus on the field of a conversation. */
import { type RefObject, useEffect, useRef, useState } from 'react'

export type Field = RefObject<HTMLTextAreaElement | null>

/** Keeps the keyboard where it is when the second press of a double click falls on what has come instead. */
export const keepFocus = (): void =>
  document.addEventListener('mousedown', (event) => event.detail > 1 && event.preventDefault(), { once: true })

/** Focuses the field, except where that would open an on-screen keyboard. */
export function focusOn(field: Field): void {
  if (!matchMedia('(pointer: coarse)').matches) field.current?.focus({ preventScroll: true })
}

/**
 * Focuses the field when a conversation is opened, and when a new one gets its id, unless the keyboard is used somewhere else
 * by then.
 */
export function useFocusedField(sessionId: string | null) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [openedAs] = useState(sessionId)
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      if (sessionId === openedAs || document.activeElement?.matches('body, main')) focusOn(field)
    })
    return () => cancelAnimationFrame(frame)
  }, [sessionId, openedAs])
  return field
}
