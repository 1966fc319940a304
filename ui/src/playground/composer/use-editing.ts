import { useCallback, useEffect, useRef, useState } from 'react'
import type { useConnection } from '../connection/use-connection.ts'
import { keepPlace, type Place, readPlace } from './drafts.ts'

/** The place of the message that is edited, kept with the draft; null when none is. */
export function useEditing(
  agentId: string,
  { sessionId, isIdle, isAccepted }: Pick<ReturnType<typeof useConnection>, 'sessionId' | 'isIdle' | 'isAccepted'>,
) {
  const [editing, setShown] = useState(() => readPlace(agentId, sessionId))
  const setEditing = useCallback(
    (place: Place | null) => {
      setShown(place)
      keepPlace(agentId, sessionId, place)
    },
    [agentId, sessionId],
  )
  // It is over once the server has accepted what was sent from here; not when a running reply is joined.
  const isSending = !isIdle && !isAccepted
  const wasSending = useRef(isSending)
  useEffect(() => {
    if (wasSending.current && isAccepted) setEditing(null)
    wasSending.current = isSending
  }, [isSending, isAccepted, setEditing])
  return { editing, setEditing }
}
