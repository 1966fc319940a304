/** A conversation as a hook: its stored messages, the current reply, and what can be done with them. */
import { useQuery } from '@tanstack/react-query'
import { useMachine } from '@xstate/react'
import { useEffect, useRef, useState } from 'react'
import {
  type Decision,
  type Message,
  messageList,
  messagesChanged,
  newestSessions,
  type PendingCall,
  pendingCalls,
  sessionsChanged,
} from '../queries.ts'
import { createTranscript } from '../transcript/transcript.ts'
import { type ChatRequest, connectionMachine } from './connection-machine.ts'
import type { ShownPart } from './live-reply.ts'

interface ConnectionOptions {
  agentId: string
  /** Null until the first message creates it; `onSession` then receives its id. */
  sessionId: string | null
  onSession: (id: string) => void
}

export function useConnection({ agentId, sessionId: given, onSession }: ConnectionOptions) {
  const [transcript] = useState(createTranscript)
  const input = { agentId, sessionId: given, transcript }
  const [state, send, machine] = useMachine(connectionMachine, { input })
  const { sessionId, problem } = state.context
  const isIdle = state.matches('idle')
  const stored = useQuery({ ...messageList(agentId, sessionId ?? ''), enabled: sessionId !== null })

  useEffect(() => {
    if (sessionId !== null && sessionId !== given) onSession(sessionId)
  }, [sessionId, given, onSession])

  // A reply has begun or ended: titles, times and the stored messages have changed.
  const wasIdle = useRef(true)
  useEffect(() => {
    if (wasIdle.current === isIdle) return
    wasIdle.current = isIdle
    sessionsChanged(agentId)
    if (isIdle && sessionId !== null) messagesChanged(agentId, sessionId)
  }, [isIdle, agentId, sessionId])

  useOtherWindows(agentId, sessionId)
  const pending = usePending(agentId, sessionId, stored.data?.path.at(-1))

  // A running reply that this window does not follow: after a reload, or started elsewhere.
  const last = stored.data?.path.at(-1)
  useEffect(() => {
    if (!isIdle || last?.status !== 'streaming') return
    const { live } = transcript.getSnapshot().context
    if (live?.id !== last.id || live.status === 'streaming') send({ type: 'join', replyId: last.id })
  }, [isIdle, last, transcript, send])

  return {
    transcript,
    stored,
    unread: useUnread(stored),
    sessionId,
    problem,
    isIdle,
    /** The pending calls. */
    pending: isIdle ? pending : [],
    /** The server has accepted the message, and the reply is running. */
    isAccepted: !isIdle && !state.matches({ following: 'sending' }),
    isReconnecting: state.matches({ following: 'reconnecting' }),
    isStopping: state.matches({ following: 'stopping' }) || state.context.stopAsked,
    /**
     * Returns false where nothing was sent: a reply is followed by now, though what was rendered last may not show it
     * yet.
     */
    send(chat: ChatRequest, parts: readonly ShownPart[]): boolean {
      const canSend = machine.getSnapshot().can({ type: 'send', chat, parts })
      if (canSend) send({ type: 'send', chat, parts })
      return canSend
    },
    decide: (decisions: readonly Decision[]) => send({ type: 'decide', decisions }),
    stop: () => send({ type: 'stop' }),
    dismiss: () => send({ type: 'dismiss' }),
  }
}

/**
 * Returns the error of reading the stored messages. It is kept while they are requested again, when the query forgets
 * it.
 */
function useUnread({ data, error }: { data: unknown; error: unknown }): unknown {
  const [last, setLast] = useState(error)
  if (error !== null && error !== last) setLast(error)
  return data === undefined ? last : null
}

const nothing: PendingCall[] = []

/** Returns the pending calls. They are requested where the newest reply waits for them. */
function usePending(agentId: string, sessionId: string | null, last: Message | undefined): PendingCall[] {
  const enabled = sessionId !== null && last?.finishReason === 'tool_calls'
  const { data = nothing } = useQuery({ ...pendingCalls(agentId, sessionId ?? ''), enabled })
  return enabled ? data : nothing
}

/**
 * Polls for changes by other windows or the API's callers in this agent's sessions: they are seen within a few seconds.
 */
function useOtherWindows(agentId: string, sessionId: string | null): void {
  const newest = useQuery(newestSessions(agentId)).data?.sessions
  const changedAt = newest?.[0] && `${newest[0].id} ${newest[0].updatedAt} ${newest.length}`
  const own = newest?.find(({ id }) => id === sessionId)?.updatedAt
  const isKnown = newest !== undefined
  const known = useRef({ isKnown, changedAt, own, sessionId })
  useEffect(() => {
    const before = known.current
    known.current = { isKnown, changedAt, own, sessionId }
    if (!before.isKnown) return
    if (before.changedAt !== changedAt) sessionsChanged(agentId)
    if (sessionId !== null && before.sessionId === sessionId && before.own !== own) messagesChanged(agentId, sessionId)
  }, [agentId, isKnown, changedAt, own, sessionId])
}
