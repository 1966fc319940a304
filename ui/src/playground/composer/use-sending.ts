/**
 * The effect of Enter: the message is sent, or waits while a reply runs. A refused message is put back into the field.
 */
import { useCallbackRef } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { askedVersion } from '../../versions/draft-writing.ts'
import type { Problem } from '../chat-notices.tsx'
import type { useConnection } from '../connection/use-connection.ts'
import { type OnBusy, queueMessage } from '../queue/queue.ts'
import { type Attachment, contentOf, shownParts, type useAttachments } from './attachments.ts'
import type { Place } from './drafts.ts'
import type { useDraft } from './use-draft.ts'
import type { useEditing } from './use-editing.ts'

interface SendingOptions {
  agentId: string
  connection: ReturnType<typeof useConnection>
  draft: ReturnType<typeof useDraft>
  attachments: ReturnType<typeof useAttachments>
  place: ReturnType<typeof useEditing>
}

/** The text and the parts that leave the field together, and return to it together. */
interface Written {
  text: string
  files: readonly Attachment[]
  /** The place of the message that it edits. Null when it is a new one. */
  place: Place | null
}

export function useSending({ agentId, connection, draft, attachments, place }: SendingOptions) {
  const { isIdle, isAccepted, sessionId, problem } = connection
  // A file was gone from the disk when it was read, or the queue is full.
  const [refusal, setRefusal] = useState<Problem | null>(null)
  const isReading = useRef(false)
  /** The message that the connection sends, until the server has accepted or refused it. */
  const sent = useRef<Written | null>(null)
  const restore = useCallbackRef((written: Written) => {
    draft.restore(written.text)
    attachments.restore(written.files)
    place.restore(written.place)
  })
  const accepted = useCallbackRef(() => {
    draft.accepted()
    place.accepted()
  })
  /** Returns its request: its files are read, and what is typed of the draft is stored before. */
  const requestOf = async ({ text, files, place: at }: Written) => {
    isReading.current = true
    try {
      return { message: await contentOf(text, files), ...at, ...(await askedVersion(agentId)) }
    } finally {
      isReading.current = false
    }
  }
  /** `onBusy`: how it waits. Null where no reply was running when it left the field. */
  const send = useCallbackRef(async (written: Written, onBusy: OnBusy | null) => {
    try {
      const chat = await requestOf(written)
      if (onBusy === null && connection.send(chat, shownParts(written.files))) {
        sent.current = written
        return
      }
      // A reply may have begun elsewhere while the files were read: the message waits for it like any other.
      if (sessionId === null) throw new Error('Another message is being sent. Send this one when its reply has begun.')
      await queueMessage(agentId, sessionId, chat, onBusy ?? 'enqueue')
      accepted()
    } catch (error) {
      setRefusal({ error, text: written.text, isQueued: true })
      restore(written)
    }
  })
  useEffect(() => {
    if (problem === null || problem.text === null) return
    restore({ files: [], place: null, ...sent.current, text: problem.text })
    sent.current = null
  }, [problem, restore])
  const isSending = !isIdle && !isAccepted
  useEffect(() => {
    if (isSending || sent.current === null) return
    sent.current = null
    accepted()
  }, [isSending, accepted])
  const dismiss = () => {
    setRefusal(null)
    connection.dismiss()
  }
  return {
    problem: refusal ?? problem,
    dismiss,
    /**
     * Sends one of the agent's openings, which stay on the page for a moment longer. Only one is sent, and it never
     * waits.
     */
    open: useCallbackRef((text: string) => {
      if (isIdle && !isReading.current && sent.current === null) void send({ text, files: [], place: null }, null)
    }),
    /** Sends the message. `steers`: it is to end the running reply at its next boundary. */
    onSend(steers = false): void {
      const written = { text: draft.text, files: attachments.files, place: place.editing }
      const isEmpty = written.text.trim() === '' && written.files.length === 0
      // A message that is being sent has no place in the session yet that another could wait behind.
      if (isEmpty || isSending || isReading.current) return
      dismiss()
      draft.clearShown()
      attachments.clear()
      place.clearShown()
      void send(written, isIdle ? null : steers ? 'steer' : 'enqueue')
    },
  }
}
