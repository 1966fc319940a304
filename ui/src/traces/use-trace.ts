/** A reply's trace, followed while it runs. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { followTrace, traceOf } from './queries.ts'
import type { Trace } from './types.ts'

export interface FollowedTrace {
  trace: Trace | null
  error: unknown
}

/** Follows a trace. `running`: its end is yet to come. Give the component that uses it the message's id as its key. */
export function useTrace(messageId: string, running: boolean): FollowedTrace {
  const stored = useQuery({ ...traceOf(messageId), enabled: !running })
  const [live, setLive] = useState<Trace | null>(null)
  useEffect(() => {
    if (!running) return
    const controller = new AbortController()
    const follow = async () => {
      for await (const trace of followTrace(messageId, controller.signal)) setLive(trace)
    }
    // The stored trace follows when the reply has ended.
    follow().catch(() => {})
    return () => controller.abort()
  }, [messageId, running])
  return { trace: stored.data ?? live, error: stored.error }
}
