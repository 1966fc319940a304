/** The field for a message: Enter sends, Shift+Enter begins a line, Esc stops, ↑ edits the last message. */
import { ActionIcon, Textarea, Tooltip } from '@mantine/core'
import { IconArrowUp, IconPlayerStopFilled } from '@tabler/icons-react'
import type { KeyboardEvent, ReactNode, RefObject } from 'react'
import classes from './composer.module.css'

interface ComposerProps {
  text: string
  setText: (text: string) => void
  field: RefObject<HTMLTextAreaElement | null>
  onSend: () => void
  /** Null while no reply runs. */
  onStop: (() => void) | null
  isStopping: boolean
  /** For ↑ in an empty field. */
  lastMessage: () => string | undefined
  placeholder: string
  /** Above the field: the request's overrides. */
  children?: ReactNode
}

export function Composer(props: ComposerProps) {
  const { text, setText, field, onSend, onStop, isStopping, lastMessage, placeholder, children } = props
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that picks an input method's word is not meant for the form (Safari marks it with key code 229).
    if (event.nativeEvent.isComposing || event.keyCode === 229) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      if (onStop === null) onSend()
    }
    if (event.key === 'ArrowUp' && text === '') {
      const last = lastMessage()
      if (last === undefined) return
      event.preventDefault()
      setText(last)
    }
  }
  return (
    <div className={classes.composer}>
      {children}
      <div className={classes.composerField}>
        <Textarea
          ref={field}
          aria-label="Message"
          attributes={{ input: { dir: 'auto' } }}
          placeholder={placeholder}
          variant="unstyled"
          autosize
          minRows={1}
          maxRows={12}
          flex={1}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {onStop ? (
          <Tooltip label="Stop (Esc)">
            <ActionIcon size={34} radius="xl" aria-label="Stop" color="gray.8" onClick={onStop} loading={isStopping}>
              <IconPlayerStopFilled size={16} />
            </ActionIcon>
          </Tooltip>
        ) : (
          <Tooltip label="Send (Enter)">
            <ActionIcon size={34} radius="xl" aria-label="Send" onClick={onSend} disabled={text.trim() === ''}>
              <IconArrowUp size={19} stroke={2.2} />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
    </div>
  )
}
