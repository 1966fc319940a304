/** The actions on a message: edit it, answer it again, turn to it, fork the session there. */
import { useCallbackRef } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useMemo } from 'react'
import { useNavigate } from 'react-router'
import { wordsOf } from '../../api.ts'
import type { ShownMessage } from '../connection/live-reply.ts'
import { linkTo } from '../finding/linked-message.tsx'
import { createSession, turnTo } from '../queries.ts'

export interface MessageActions {
  agentId: string
  /** The session of the messages. Null while it has no id. */
  sessionId: string | null
  edit: (message: Pick<ShownMessage, 'content' | 'parts' | 'parentId'>) => void
  /** Asks for another reply to this message of the user's. Null while a reply runs. */
  regenerate: ((messageId: string) => void) | null
  /** Shows this message and its branch. Null while a reply runs. */
  turnTo: ((messageId: string) => void) | null
  /** Null while the session has no id. `frameId`: of a reply, only up to it. */
  fork: ((messageId: string, frameId?: number) => void) | null
  /** The address of this message. Null while the session has no id. */
  linkTo: ((messageId: string) => string) | null
  /** Opens the choice of a place within this reply. */
  forkWithin: ((message: ShownMessage) => void) | null
}

interface ActionOptions {
  agentId: string
  sessionId: string | null
  isIdle: boolean
  edit: MessageActions['edit']
  regenerate: (messageId: string) => Promise<void>
  forkWithin: (message: ShownMessage) => void
}

const say = (error: unknown) => notifications.show({ color: 'red', message: wordsOf(error) })

export function useMessageActions(options: ActionOptions): MessageActions {
  const { agentId, sessionId, isIdle } = options
  const navigate = useNavigate()
  const edit = useCallbackRef(options.edit)
  const regenerate = useCallbackRef(options.regenerate)
  const forkWithin = useCallbackRef(options.forkWithin)
  return useMemo(() => {
    const turn = (id: string) => void (sessionId !== null && turnTo(agentId, sessionId, id).catch(say))
    const fork = async (messageId: string, frameId?: number) => {
      if (sessionId === null) return
      const id = await createSession(agentId, { sessionId, messageId, frameId: frameId ?? null })
      void navigate(`/playground/${agentId}/${id}`)
    }
    const isStored = sessionId !== null
    return {
      agentId,
      sessionId,
      edit,
      regenerate: isIdle && isStored ? (messageId) => void regenerate(messageId).catch(say) : null,
      turnTo: isIdle && isStored ? turn : null,
      fork: isStored ? (messageId, frameId) => void fork(messageId, frameId).catch(say) : null,
      linkTo: isStored ? (messageId) => linkTo(agentId, sessionId, messageId) : null,
      forkWithin: isStored ? forkWithin : null,
    }
  }, [agentId, sessionId, isIdle, edit, regenerate, forkWithin, navigate])
}
