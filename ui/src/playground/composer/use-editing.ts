import { useState } from 'react'
import { keepPlace, type Place, readPlace } from './drafts.ts'

/** The place of the message that is edited; null when none is. It is kept with the draft, and for as long as that is. */
export function useEditing(agentId: string, sessionId: string | null) {
  const [editing, setShown] = useState(() => readPlace(agentId, sessionId))
  const setEditing = (place: Place | null) => {
    setShown(place)
    keepPlace(agentId, sessionId, place)
  }
  return {
    editing,
    setEditing,
    clearShown: () => setShown(null),
    /** The message was refused; where another is edited by now, that one's place counts. */
    restore: (place: Place | null) => place !== null && editing === null && setEditing(place),
    accepted: () => keepPlace(agentId, sessionId, editing),
  }
}
