import { useState } from 'react'
import { keepPlace, type Place, readPlace } from './drafts.ts'

/** Returns the place of the edited message, or null. It is stored with the draft, and as long. */
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
    /** Restores the place of a refused message. If another message is edited by now, its place stays. */
    restore: (place: Place | null) => place !== null && editing === null && setEditing(place),
    accepted: () => keepPlace(agentId, sessionId, editing),
  }
}
