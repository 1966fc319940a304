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

/** The state of a column with a session. */
export interface ColumnState {
  isBusy: boolean
  /** The number of calls that wait in it. */
  waiting: number
}

export function useAsking(
  agentId: string,
  origin: Origin | null,
  setSessions: (ids: readonly string[] | null) => void,
) {
  const [question, setQuestion] = useState<Question | null>(null)
  const [states, setStates] = useState<ReadonlyMap<string, ColumnState>>(new Map())
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
  const onState = useCallback(
    (name: string, state: ColumnState | null) =>
      setStates((before) => {
        const after = new Map(before)
        if (state === null) after.delete(name)
        else after.set(name, state)
        return after
      }),
    [],
  )
  const all = [...states.values()]
  return {
    question,
    isBusy: all.some(({ isBusy }) => isBusy),
    /** The number of calls that wait in the columns. */
    waiting: all.reduce((sum, { waiting }) => sum + waiting, 0),
    isPreparing: preparation.isPending,
    error: preparation.error,
    /** Resolves to whether it was asked, or stopped before that. Rejects when a session could not be made: then it was not. */
    ask(asked: Asked): Promise<boolean> {
      isStopped.current = false
      return preparation.mutateAsync(asked)
    },
    onState,
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
