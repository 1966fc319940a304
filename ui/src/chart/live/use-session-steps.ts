/** A session's steps: the newest stored ones, then each as it happens, over broken connections. */
import { useEffect, useState } from 'react'
import { parseNoted } from '../../../../src/untrusted/exact-json.ts'
import { ApiError, api, Unreachable, wordsOf } from '../../api.ts'
import { reachableWithin } from '../../shell/connection.ts'
import { newestSteps } from '../queries.ts'
import type { Step } from '../step.ts'

export interface SessionSteps {
  /** `gone`: there is no such session, or it has been deleted meanwhile. */
  status: 'loading' | 'live' | 'reconnecting' | 'gone' | 'failed'
  steps: Step[]
  /** The number of steps that were stored before the page was opened. */
  known: number
  error: string | null
}

const nothing: SessionSteps = { status: 'loading', steps: [], known: 0, error: null }
const [firstWaitMs, longestWaitMs] = [500, 5_000]
/** Older ones are left to the replay. */
const mostSteps = 600

/** Returns whether the error may pass: the server is away, or cannot answer at the moment. */
const passes = (error: unknown): boolean => error instanceof Unreachable || (error instanceof ApiError && error.passes)

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404

type Tell = (change: (before: SessionSteps) => SessionSteps) => unknown

/** Asks again, less and less often, until there is an answer. */
async function storedSteps(sessionId: string, onLost: () => void, signal: AbortSignal): Promise<Step[]> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      return await newestSteps(sessionId, signal)
    } catch (error) {
      if (!passes(error)) throw error
      onLost()
      await reachableWithin(waitMs, signal)
    }
  }
}

async function follow(sessionId: string, tell: Tell, signal: AbortSignal): Promise<void> {
  const path = `/api/v1/debug/sessions/${encodeURIComponent(sessionId)}/transitions/stream`
  const show = (status: SessionSteps['status']) => tell((before) => ({ ...before, status }))
  const onConnection = (state: 'open' | 'lost') => show(state === 'open' ? 'live' : 'reconnecting')
  const steps = await storedSteps(sessionId, () => show('reconnecting'), signal)
  tell(() => ({ status: 'live', steps, known: steps.length, error: null }))
  const lastEventId = String(steps.at(-1)?.seq ?? 0)
  for await (const { data } of api.events(path, { lastEventId, onConnection, signal })) {
    const step: Step = Object(parseNoted(data))
    tell((before) => ({ ...before, ...shortened([...before.steps, step], before.known) }))
  }
}

const shortened = (steps: Step[], known: number) => {
  const over = Math.max(0, steps.length - mostSteps)
  return { steps: steps.slice(over), known: Math.max(0, known - over) }
}

/** Returns the steps of one session: give the component that uses it the session's id as its key. */
export function useSessionSteps(sessionId: string): SessionSteps {
  const [state, setState] = useState(nothing)
  useEffect(() => {
    const controller = new AbortController()
    const tell: Tell = (change) => !controller.signal.aborted && setState(change)
    follow(sessionId, tell, controller.signal).catch((error: unknown) => {
      tell((before) => ({
        ...before,
        ...(isGone(error) ? { status: 'gone' } : { status: 'failed', error: wordsOf(error) }),
      }))
    })
    return () => controller.abort()
  }, [sessionId])
  return state
}
