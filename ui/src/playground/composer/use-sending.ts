/** What Enter does: the message is sent, or waits while a reply runs. What is refused is put back into the field. */
import { useCallbackRef } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import type { Problem } from '../chat-notices.tsx'
import type { useConnection } from '../connection/use-connection.ts'
import { type Overrides, requestPart } from '../overrides/overrides.ts'
import { useQueueing } from '../queue/use-queueing.ts'
import { type Attachment, contentOf, shownParts, type useAttachments } from './attachments.ts'
import type { useDraft } from './use-draft.ts'

interface SendingOptions {
  agentId: string
  connection: ReturnType<typeof useConnection>
  draft: ReturnType<typeof useDraft>
  attachments: ReturnType<typeof useAttachments>
  /** The place of the message that is edited. Null when none is. */
  editing: { parentId: string | null } | null
  /** The message has been put into the queue: nothing is edited any more. */
  onQueued: () => void
  overrides: Overrides
}

export function useSending(options: SendingOptions) {
  const { agentId, connection, draft, attachments, editing, overrides } = options
  const { isIdle, isAccepted, sessionId } = connection
  const queueing = useQueueing({ agentId, sessionId, draft, attachments })
  // A file may be gone from the disk by the time it is read.
  const [unread, setUnread] = useState<Problem | null>(null)
  const isReading = useRef(false)
  const send = useCallbackRef(async (text: string, files: readonly Attachment[]) => {
    isReading.current = true
    try {
      const message = await contentOf(text, files)
      const place = editing && { parentId: editing.parentId }
      connection.send({ message, ...place, ...requestPart(overrides) }, shownParts(files))
    } catch (error) {
      setUnread({ error, text })
    } finally {
      isReading.current = false
    }
  })
  useRefused(unread, draft, attachments.restore)
  useRefused(connection.problem, draft, attachments.restore)
  useRefused(queueing.problem, draft, attachments.restore)
  useEffect(() => {
    if (!isAccepted) return
    draft.accepted()
    attachments.accepted()
  }, [isAccepted, draft.accepted, attachments.accepted])
  const dismiss = () => {
    setUnread(null)
    connection.dismiss()
    queueing.dismiss()
  }
  return {
    problem: unread ?? queueing.problem ?? connection.problem,
    dismiss,
    /** Sends one of the agent's openings. */
    open: useCallbackRef((text: string) => void send(text, [])),
    /** `steers`: the message is to end the reply that runs at its next boundary. */
    onSend(steers = false): void {
      const { files } = attachments
      // A message that is being sent has no place in the session yet that another could wait behind.
      if ((draft.text.trim() === '' && files.length === 0) || !(isIdle || isAccepted) || isReading.current) return
      dismiss()
      if (!isIdle) {
        queueing.send({ ...editing, ...requestPart(overrides) }, steers)
        options.onQueued()
        return
      }
      draft.clearShown()
      attachments.clear()
      void send(draft.text, files)
    },
  }
}

/** A refused message is put back into the field, before what was typed meanwhile, and its files beside it. */
function useRefused(problem: Problem | null, draft: ReturnType<typeof useDraft>, restoreFiles: () => void): void {
  const [seen, setSeen] = useState(problem)
  useEffect(() => {
    if (problem === seen) return
    setSeen(problem)
    const refused = problem?.text
    if (problem && problem.text !== null) restoreFiles()
    if (refused && !draft.text.includes(refused)) draft.setText([refused, draft.text].filter(Boolean).join('\n'))
  }, [problem, seen, draft, restoreFiles])
}
