import { useCallback, useEffect, useRef, useState } from 'react'
import { keepDraft, readDraft } from './drafts.ts'

/** The text in the field, kept for the session as it is typed; once sent, until the server has accepted it. */
export function useDraft(agentId: string, sessionId: string | null) {
  const [text, setShown] = useState(() => readDraft(agentId, sessionId))
  const now = useRef({ text, sessionId })
  useEffect(() => {
    now.current = { text, sessionId }
  })
  const [begunAs] = useState(sessionId)
  const setText = useCallback(
    (next: string) => {
      setShown(next)
      keepDraft(agentId, sessionId, next)
    },
    [agentId, sessionId],
  )
  const accepted = useCallback(() => {
    if (begunAs === null) keepDraft(agentId, null, '')
    keepDraft(agentId, now.current.sessionId, now.current.text)
  }, [agentId, begunAs])
  return { text, setText, clearShown: () => setShown(''), accepted }
}
