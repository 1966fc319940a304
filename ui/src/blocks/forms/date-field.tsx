/** A day or a moment that is part of the page's address. */
import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

interface DateFieldProps extends Pick<TextInputProps, 'size' | 'w'> {
  type: 'date' | 'datetime-local'
  label: string
  /** The value in the format of such a field: `2027-01-31` or `2027-01-31T09:30`; '' for none. */
  value: string
  /** True if its name is in sight, within the field. */
  isNamed?: boolean
  /** Called a moment after the last change. */
  onSettled: (value: string) => void
}

/** A maximum with a year of four digits makes the browser move to the field's next part after four typed digits. */
const latest = { date: '9999-12-31', 'datetime-local': '9999-12-31T23:59' }

/** Held here while it is typed: a field that is given the address's value, which follows later, is emptied in between. */
export function DateField({ type, label, value, onSettled, isNamed = false, ...sizes }: DateFieldProps) {
  const [draft, setDraft] = useState(value)
  const told = useRef(value)
  const tellSoon = useDebouncedCallback((whole: string) => {
    told.current = whole
    onSettled(whole)
  }, 300)
  // The back button and links change the address too. What was told comes back, when more may have been typed.
  useEffect(() => {
    if (value === told.current) return
    told.current = value
    setDraft(value)
  }, [value])
  return (
    <TextInput
      type={type}
      aria-label={label}
      {...(isNamed && {
        leftSection: label,
        leftSectionWidth: 48,
        leftSectionProps: { style: { fontSize: 'var(--mantine-font-size-xs)' } },
      })}
      max={latest[type]}
      {...sizes}
      value={draft}
      onChange={({ currentTarget: { value: typed, validity } }) => {
        setDraft(typed)
        // Half-typed it has no value, or a year that is still to come.
        if (validity.badInput || typed.startsWith('0')) tellSoon.cancel()
        else tellSoon(typed)
      }}
    />
  )
}
