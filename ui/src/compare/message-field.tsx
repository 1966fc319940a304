import { useRef, useState } from 'react'
import { contentOf, shownParts, useAttachments } from '../playground/attachments.ts'
import { Composer } from '../playground/composer.tsx'
import type { Question } from './column.tsx'

interface MessageFieldProps {
  agentName: string
  isBusy: boolean
  /** Rejects when nothing was asked; then the message stays in the field. */
  onAsk: (question: Question) => Promise<unknown>
  onStop: () => void
}

/** One message for all columns. */
export function MessageField({ agentName, isBusy, onAsk, onStop }: MessageFieldProps) {
  const [text, setText] = useState('')
  const [last, setLast] = useState<string>()
  const field = useRef<HTMLTextAreaElement>(null)
  const attachments = useAttachments()
  const send = async () => {
    const { files } = attachments
    await onAsk({ chat: { message: await contentOf(text, files) }, parts: shownParts(files) })
    setText('')
    setLast(text)
    attachments.clear()
    attachments.accepted()
  }
  const onSend = () => {
    if ((text.trim() === '' && attachments.files.length === 0) || isBusy) return
    send().catch(() => field.current?.focus()) // the page shows why
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
      lastMessage={() => last}
      placeholder={`Message ${agentName} in each column`}
    />
  )
}
