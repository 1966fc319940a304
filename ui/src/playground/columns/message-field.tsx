import { notifications } from '@mantine/notifications'
import { useRef, useState } from 'react'
import { wordsOf } from '../../api.ts'
import { contentOf, shownParts, useAttachments } from '../composer/attachments.ts'
import { Composer } from '../composer/composer.tsx'
import { rejecting } from '../composer/waiting-calls.tsx'
import type { ShownPart } from '../connection/live-reply.ts'
import type { Question } from './column.tsx'

interface MessageFieldProps {
  agentName: string
  isBusy: boolean
  /** Resolves to whether it was asked; rejects when it could not be. Where nothing was asked, the message stays in the field. */
  onAsk: (question: Question) => Promise<boolean>
  onStop: () => void
  /** The number of calls that wait in the columns: a message rejects them. */
  waiting: number
}

/** The field of a message to all columns. */
export function MessageField({ agentName, isBusy, onAsk, onStop, waiting }: MessageFieldProps) {
  const [text, setText] = useState('')
  const [last, setLast] = useState<{ text: string; parts: readonly ShownPart[] }>()
  const field = useRef<HTMLTextAreaElement>(null)
  const attachments = useAttachments()
  // Files are read before the columns are asked: what is pressed again meanwhile is the same message.
  const isSending = useRef(false)
  const send = async () => {
    const { files } = attachments
    const parts = shownParts(files)
    const message = await contentOf(text, files).catch((error: unknown) => {
      notifications.show({ color: 'red', message: wordsOf(error) })
      throw error
    })
    if (!(await onAsk({ chat: { message }, parts }))) return field.current?.focus()
    // What was typed meanwhile stays.
    setText((now) => (now === text ? '' : now))
    setLast({ text, parts })
    attachments.clear()
  }
  const recall = () => {
    if (last) attachments.take(last.parts)
    return last?.text
  }
  const onSend = () => {
    if ((text.trim() === '' && attachments.files.length === 0) || isBusy || isSending.current) return
    isSending.current = true
    send()
      .catch(() => field.current?.focus()) // the page shows why
      .finally(() => {
        isSending.current = false
      })
  }
  return (
    <Composer
      text={text}
      setText={setText}
      field={field}
      onSend={onSend}
      attachments={attachments}
      onStop={isBusy ? onStop : null}
      isStopping={false}
      recall={recall}
      placeholder={rejecting(waiting)?.placeholder ?? `Message ${agentName} in each column`}
      sendLabel={rejecting(waiting)?.sendLabel ?? 'Send'}
    />
  )
}
