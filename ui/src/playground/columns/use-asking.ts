/** Asks all columns at once, each in a session of its own. */
import { useMutation } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import { createSession } from '../queries.ts'
import type { Question } from './column.tsx'
import type { Origin } from './columns-in-url.ts'

interface Asked {
  question: Question
  /** The session of each column; null while it has none. */
  sessions: readonly (string | null)[]
}

export function useAsking(
  agentId: string,
  origin: Origin | null,
  setSessions: (ids: readonly string[] | null) => void,
) {
  const [question, setQuestion] = useState<Question | null>(null)
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set())
  const [stopped, setStopped] = useState(0)
  const isStopped = useRef(false)
  const preparation = useMutation({
    async mutationFn({ question: next, sessions }: Asked) {
      const forkOf = origin && { sessionId: origin.sessionId, messageId: origin.answers, frameId: null }
      const ids = await Promise.all(sessions.map((id) => id ?? createSession(agentId, forkOf)))
      if (sessions.includes(null)) setSessions(ids)
      // The sessions that were made meanwhile are there for the next question.
      if (isStopped.current) return false
      setQuestion(next)
      return true
    },
  })
  const onBusy = useCallback(
    (name: string, isBusy: boolean) =>
      setBusy((before) => {
        if (before.has(name) === isBusy) return before
        const after = new Set(before)
        if (isBusy) after.add(name)
        else after.delete(name)
        return after
      }),
    [],
  )
  return {
    question,
    isBusy: busy.size > 0,
    isPreparing: preparation.isPending,
    error: preparation.error,
    /** Resolves to whether it was asked, or stopped before that. Rejects when a session could not be made: then it was not. */
    ask(asked: Asked): Promise<boolean> {
      isStopped.current = false
      return preparation.mutateAsync(asked)
    },
    onBusy,
    stopped,
    stop() {
      isStopped.current = true
      setStopped((before) => before + 1)
    },
    startOver() {
      setQuestion(null)
      setSessions(null)
    },
  }
}
