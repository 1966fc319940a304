import { useCallback, useEffect, useRef, useState } from 'react'
import { keepDraft, readDraft } from './drafts.ts'

/** Returns the text in the field, kept for the session as it is typed; once sent, until the server has accepted it. */
export function useDraft(agentId: string, sessionId: string | null) {
  const [text, setShown] = useState(() => readDraft(agentId, sessionId))
  const now = useRef({ text, sessionId })
  useEffect(() => {
    now.current = { text, sessionId }
  })
  const [begunAs] = useState(sessionId)
  const show = useCallback((next: string) => {
    now.current.text = next
    setShown(next)
  }, [])
  const setText = useCallback(
    (next: string) => {
      show(next)
      keepDraft(agentId, sessionId, next)
    },
    [agentId, sessionId, show],
  )
  /** A refused message is there again, before what was typed meanwhile: also before another that came back just now. */
  const restore = useCallback(
    (refused: string) => {
      const { text: typed } = now.current
      if (!typed.includes(refused)) setText([refused, typed].filter(Boolean).join('\n'))
    },
    [setText],
  )
  const accepted = useCallback(() => {
    if (begunAs === null) keepDraft(agentId, null, '')
    keepDraft(agentId, now.current.sessionId, now.current.text)
  }, [agentId, begunAs])
  return { text, setText, clearShown: () => show(''), restore, accepted }
}
