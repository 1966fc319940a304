/** A session's steps: the newest that are stored, then each as it is made, over broken connections. */
import { useEffect, useState } from 'react'
import { ApiError, wordsOf } from '../api.ts'
import { eventsOf } from './event-stream.ts'
import { newestSteps, type Step } from './queries.ts'

export interface SessionSteps {
  /** `gone`: there is no such session, or it has been deleted meanwhile. */
  status: 'loading' | 'live' | 'reconnecting' | 'gone' | 'failed'
  steps: Step[]
  /** So many of them were stored before anybody looked. */
  known: number
  error: string | null
}

const nothing: SessionSteps = { status: 'loading', steps: [], known: 0, error: null }
const firstWaitMs = 300
const longestWaitMs = 5_000
/** Older ones are left to the replay. */
const mostSteps = 600

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404

type Tell = (change: (before: SessionSteps) => SessionSteps) => void

async function follow(sessionId: string, tell: Tell, signal: AbortSignal): Promise<void> {
  const path = `/api/v1/debug/sessions/${encodeURIComponent(sessionId)}/transitions/stream`
  let after: number | null = null
  for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(waitMs * 1.7, longestWaitMs)) {
    try {
      if (after === null) {
        const steps = await newestSteps(sessionId, signal)
        after = steps.at(-1)?.seq ?? 0
        tell(() => ({ status: 'live', steps, known: steps.length, error: null }))
      }
      tell((before) => ({ ...before, status: 'live' }))
      for await (const { data } of eventsOf(path, String(after), signal)) {
        const step: Step = JSON.parse(data)
        after = step.seq
        waitMs = firstWaitMs
        tell((before) => ({ ...before, ...shortened([...before.steps, step], before.known) }))
      }
    } catch (error) {
      if (signal.aborted) return
      if (isGone(error)) return tell((before) => ({ ...before, status: 'gone' }))
      if (error instanceof ApiError) {
        return tell((before) => ({ ...before, status: 'failed', error: wordsOf(error) }))
      }
    }
    if (signal.aborted) return
    tell((before) => ({ ...before, status: 'reconnecting' }))
    await pause(waitMs)
  }
}

const shortened = (steps: Step[], known: number) => {
  const over = Math.max(0, steps.length - mostSteps)
  return { steps: steps.slice(over), known: Math.max(0, known - over) }
}

/** For one session: give the component that uses it the session's id as its key. */
export function useSessionSteps(sessionId: string): SessionSteps {
  const [state, setState] = useState(nothing)
  useEffect(() => {
    const controller = new AbortController()
    void follow(sessionId, (change) => !controller.signal.aborted && setState(change), controller.signal)
    return () => controller.abort()
  }, [sessionId])
  return state
}
