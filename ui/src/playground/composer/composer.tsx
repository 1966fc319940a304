/**
 * The field for a message: Enter sends, or queues while a reply runs; Ctrl+Enter steers; Shift+Enter begins a line; ↑ edits
 * the last message.
 */
import { ActionIcon, Textarea } from '@mantine/core'
import { IconArrowUp, IconPaperclip, IconPlayerStopFilled } from '@tabler/icons-react'
import { type KeyboardEvent, type ReactNode, type RefObject, useRef, useState } from 'react'
import { Attachments } from './attached.tsx'
import { accepted, type useAttachments } from './attachments.ts'
import classes from './composer.module.css'

/** Without a script that measures it at each letter, and before the first frame (composer.module.css). */
const growsByItself = CSS.supports('field-sizing', 'content')

/** The greatest number of rows, as in composer.module.css. */
const MOST_ROWS = 12

interface ComposerProps {
  text: string
  setText: (text: string) => void
  field: RefObject<HTMLTextAreaElement | null>
  /** `steers`: it is to end the reply that runs at its next boundary. */
  onSend: (steers?: boolean) => void
  attachments: ReturnType<typeof useAttachments>
  /** Null while no reply runs. */
  onStop: (() => void) | null
  isStopping: boolean
  /** True if a message sent while a reply runs waits for it. When absent, no message is sent then. */
  queues?: boolean
  /** Called by ↑ in an empty field: attaches what the last message had, and returns its text. */
  recall: () => string | undefined
  placeholder: string
  /** The button's label; by default "Send". */
  sendLabel?: string
  /** Above the field: the request's overrides. */
  children?: ReactNode
}

export function Composer(props: ComposerProps) {
  const {
    text,
    setText,
    field,
    onSend,
    attachments,
    onStop,
    isStopping,
    queues = false,
    recall,
    placeholder,
    sendLabel = 'Send',
    children,
  } = props
  const [isOver, setIsOver] = useState(false)
  const isEmpty = text.trim() === '' && attachments.files.length === 0
  const sends = onStop === null || queues
  /** Attaches the files of a paste or a drop; returns whether there were any. */
  const take = (data: DataTransfer | null): boolean => {
    const files = Array.from(data?.files ?? [])
    if (files.length > 0) attachments.add(files)
    return files.length > 0
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that picks an input method's word is not meant for the form (Safari marks it with key code 229).
    if (event.nativeEvent.isComposing || event.keyCode === 229) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      if (sends) onSend(event.ctrlKey || event.metaKey)
    }
    if (event.key === 'ArrowUp' && text === '') {
      const last = recall()
      if (last === undefined) return
      event.preventDefault()
      setText(last)
    }
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a way beside the button
    <div
      className={classes.composer}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setIsOver(false)
        take(event.dataTransfer)
      }}
    >
      {children}
      {attachments.files.length > 0 && <Attachments files={attachments.files} onRemove={attachments.remove} />}
      <div role="status" className={classes.refusal}>
        {attachments.refusal}
      </div>
      <div className={classes.composerField}>
        <AttachButton onFiles={attachments.add} />
        <Textarea
          ref={field}
          aria-label="Message"
          attributes={{ input: { dir: 'auto' } }}
          placeholder={placeholder}
          variant="unstyled"
          autosize={!growsByItself}
          {...(!growsByItself && { minRows: 1, maxRows: MOST_ROWS })}
          flex={1}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            if (!isText(event.clipboardData) && take(event.clipboardData)) event.preventDefault()
          }}
        />
        {onStop && <StopButton onStop={onStop} isStopping={isStopping} />}
        {sends && (onStop === null || !isEmpty) && (
          <SendButton label={sendLabel} isEmpty={isEmpty} onSend={() => onSend()} />
        )}
      </div>
    </div>
  )
}

/**
 * Returns whether the clipboard holds text. Spreadsheets and word processors add a picture of it: the text is meant.
 */
const isText = ({ types }: DataTransfer): boolean => types.includes('text/plain') && types.includes('text/html')

const StopButton = ({ onStop, isStopping }: { onStop: () => void; isStopping: boolean }) => (
  <ActionIcon
    title="Stop (Esc twice)"
    size={34}
    radius="xl"
    aria-label="Stop"
    color="gray.8"
    onClick={onStop}
    loading={isStopping}
  >
    <IconPlayerStopFilled size={16} />
  </ActionIcon>
)

const SendButton = ({ label, isEmpty, onSend }: { label: string; isEmpty: boolean; onSend: () => void }) => (
  <ActionIcon title={`${label} (Enter)`} size={34} radius="xl" aria-label={label} onClick={onSend} disabled={isEmpty}>
    <IconArrowUp size={19} stroke={2.2} />
  </ActionIcon>
)

function AttachButton({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const picker = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        accept={accepted}
        data-testid="attach"
        onChange={(event) => {
          onFiles(Array.from(event.currentTarget.files ?? []))
          event.currentTarget.value = ''
        }}
      />
      <ActionIcon
        title="Attach pictures or files"
        size={34}
        radius="xl"
        variant="subtle"
        color="gray"
        aria-label="Attach pictures or files"
        onClick={() => picker.current?.click()}
      >
        <IconPaperclip size={18} stroke={1.8} />
      </ActionIcon>
    </>
  )
}
