/** Finds words in the whole session. The browser's own search sees no more of it than what is near. */
import { ActionIcon, CloseButton, TextInput } from '@mantine/core'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useState } from 'react'
import classes from './find-bar.module.css'
import { placesOf, useMarks } from './found.ts'

interface FindBarProps {
  messages: readonly { content: string }[]
  /** The element that holds the messages. */
  root: RefObject<HTMLElement | null>
  /** Scrolls to the message at that index. */
  goTo: (place: number) => void
  onClose: () => void
}

export function FindBar({ messages, root, goTo, onClose }: FindBarProps) {
  const [text, setText] = useState('')
  const [step, setStep] = useState(0)
  const places = useMemo(() => placesOf(messages, text), [messages, text])
  const at = places.length === 0 ? -1 : ((step % places.length) + places.length) % places.length
  const place = places[at]
  useEffect(() => {
    if (place !== undefined) goTo(place)
  }, [place, goTo])
  useMarks(root, 'found', [text])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose()
    else if (event.key === 'Enter') setStep(step + (event.shiftKey ? -1 : 1))
    else return
    event.preventDefault()
  }
  return (
    <search className={classes.bar} aria-label="In this session">
      <TextInput
        size="xs"
        type="search"
        aria-label="Find in this session"
        placeholder="Find in this session"
        data-autofocus
        autoFocus
        value={text}
        onChange={({ currentTarget: { value } }) => {
          setText(value)
          setStep(0)
        }}
        onKeyDown={onKeyDown}
      />
      <span role="status" className={classes.count}>
        {text.trim() === '' ? '' : places.length === 0 ? 'No results' : `${at + 1} of ${places.length}`}
      </span>
      <Step label="Previous message" icon={IconChevronUp} onClick={() => setStep(step - 1)} />
      <Step label="Next message" icon={IconChevronDown} onClick={() => setStep(step + 1)} />
      <CloseButton size="sm" aria-label="Close the search" onClick={onClose} />
    </search>
  )
}

const Step = ({ label, icon: Icon, onClick }: { label: string; icon: typeof IconChevronUp; onClick: () => void }) => (
  <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} onClick={onClick}>
    <Icon size={16} stroke={1.8} />
  </ActionIcon>
)
