/** A link to a message: its id behind the session's address; a search's names the words that it found there, too. */
import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import type { Conversation } from '../transcript/branches.ts'
import { wordsFound } from './found.ts'

export const linkTo = (agentId: string, sessionId: string, messageId: string): string =>
  `${location.origin}/playground/${agentId}/${sessionId}#${messageId}`

interface Places {
  /** Scrolls to the message at that index. */
  goTo: (place: number) => void
  /** Shows a message and its branch. Null while a reply runs. */
  turnTo: ((messageId: string) => void) | null
}

interface Linked {
  id: string | null
  /** The words that led here. */
  words: readonly string[]
}

/** Scrolls to the message that the address names, once, as soon as its branch is shown, and offers to show that. */
export function useLinkedMessage({ path, ids }: Conversation, { goTo, turnTo }: Places): Linked {
  const { hash, state } = useLocation()
  const id = hash.slice(1)
  const gone = useRef('')
  const told = useRef('')
  const [linked, setLinked] = useState<string | null>(null)
  useEffect(() => {
    if (id === '' || gone.current === id || path.length === 0) return
    const place = path.findIndex((message) => message.id === id)
    if (place >= 0) {
      gone.current = id
      notifications.hide(id)
      setLinked(id)
      goTo(place)
      return
    }
    if (told.current === id) return
    told.current = id
    if (!ids.includes(id)) notifications.show({ message: 'The message is not in this session any longer.' })
    else notifications.show({ id, autoClose: false, message: <Elsewhere turn={turnTo && (() => turnTo(id))} /> })
  }, [id, path, ids, goTo, turnTo])
  return { id: linked, words: wordsFound(state) }
}

const Elsewhere = ({ turn }: { turn: (() => void) | null }) => (
  <Group justify="space-between">
    The message is on another branch of this session.
    {turn && (
      <Button size="compact-sm" variant="light" onClick={turn}>
        Show that branch
      </Button>
    )}
  </Group>
)
