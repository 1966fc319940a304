/** A link to a message: its id behind the session's address. */
import { notifications } from '@mantine/notifications'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import type { Conversation } from '../transcript/branches.ts'

export const linkTo = (agentId: string, sessionId: string, messageId: string): string =>
  `${location.origin}/playground/${agentId}/${sessionId}#${messageId}`

/** Scrolls to the message that the address names, once, as soon as it is there. Returns its id. */
export function useLinkedMessage({ path, ids }: Conversation, goTo: (place: number) => void): string | null {
  const id = useLocation().hash.slice(1)
  const gone = useRef('')
  const [linked, setLinked] = useState<string | null>(null)
  useEffect(() => {
    if (id === '' || gone.current === id || path.length === 0) return
    gone.current = id
    const place = path.findIndex((message) => message.id === id)
    if (place >= 0) {
      setLinked(id)
      goTo(place)
    } else if (ids.includes(id)) notifications.show({ message: 'The message is on another branch of this session.' })
    else notifications.show({ message: 'The message is not in this session any longer.' })
  }, [id, path, ids, goTo])
  return linked
}
