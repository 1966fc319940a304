/** A text that is part of the page's address. */
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'

interface SettledTextProps {
  label: string
  /** The text in the address. */
  value: string
  /** Called once nothing was typed for a moment. */
  onSettled: (text: string) => void
}

export function SettledText({ label, value, onSettled }: SettledTextProps) {
  const [text, setText] = useState(value)
  const settle = useDebouncedCallback((typed: string) => onSettled(typed.trim()), 250)
  // Links and the back button change the address too. What was typed since is on its way there.
  useEffect(() => {
    if (!settle.isPending()) setText(value)
  }, [value, settle])
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        settle(currentTarget.value)
      }}
    />
  )
}
