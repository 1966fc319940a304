/**
 * Esc twice stops the running reply: a person who closes something by habit must not lose a reply that is paid for. It
 * counts in the message field and in the conversation alone, and where nothing else was open when it was pressed.
 */
import { useCallbackRef } from '@mantine/hooks'
import { type RefObject, useEffect, useState } from 'react'
import { isAnythingOpen } from '../../blocks/pages/page-keys.ts'

/** The longest time until the second Esc. */
const SECOND_WITHIN_MS = 3_000

/** Stops the reply at the second Esc. `stop`: null while nothing runs. Returns whether the next Esc stops. */
export function useEscapeToStop(stop: (() => void) | null, field: RefObject<HTMLElement | null>): boolean {
  const [isArmed, setArmed] = useState(false)
  const isRunning = stop !== null
  const pressed = useCallbackRef(() => {
    if (isArmed) stop?.()
    setArmed(!isArmed)
  })
  useEffect(() => {
    if (!isRunning) return setArmed(false)
    // What closes on Esc is gone by the time the event bubbles here, so it is looked for before anybody has seen the event.
    let wasOpen = false
    const look = () => {
      wasOpen = isAnythingOpen()
    }
    const listen = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return setArmed(false)
      const { target, defaultPrevented, isComposing, repeat } = event
      // A key that is held down is one press, though the keyboard repeats it.
      if (defaultPrevented || isComposing || repeat || wasOpen || !(target instanceof Element)) return
      if (target === field.current || target.closest('[role=log]') !== null) pressed()
    }
    addEventListener('keydown', look, { capture: true })
    addEventListener('keydown', listen)
    return () => {
      removeEventListener('keydown', look, { capture: true })
      removeEventListener('keydown', listen)
    }
  }, [isRunning, field, pressed])
  useEffect(() => {
    if (!isArmed) return
    const timer = setTimeout(() => setArmed(false), SECOND_WITHIN_MS)
    return () => clearTimeout(timer)
  }, [isArmed])
  return isArmed
}
