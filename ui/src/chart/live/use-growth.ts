/** How the running reply grows: its stream, counted, and its last words. */
import { useEffect, useState } from 'react'
import { api } from '../../api.ts'
import type { ChosenSession } from '../sessions/session-in-url.ts'

export interface Growth {
  characters: number
  tail: string
  /** Characters of its reasoning. */
  thought: number
  /** The newest tool call that has no result yet. */
  tool: string | null
}

const nothing: Growth = { characters: 0, tail: '', thought: 0, tool: null }
const tailLength = 420
/** The page is updated at most this often. */
const tellMs = 80

async function read({ agentId, sessionId }: ChosenSession, tell: (growth: Growth) => void, signal: AbortSignal) {
  let growth = nothing
  let isDue = false
  const tellSoon = () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      if (!signal.aborted) tell(growth)
    }, tellMs)
  }
  for await (const event of api.playground(agentId).session(sessionId).resume(null, 0, { signal })) {
    if (event.type === 'tool_call') growth = { ...growth, tool: event.name }
    else if (event.type === 'tool_result') growth = { ...growth, tool: null }
    else if (event.type === 'reasoning') growth = { ...growth, thought: growth.thought + event.text.length }
    else if (event.type === 'text') {
      growth = {
        ...growth,
        characters: growth.characters + event.text.length,
        tail: (growth.tail + event.text).slice(-tailLength),
      }
    } else continue
    tellSoon()
  }
}

/**
 * Returns how far the session's newest reply has come, while `active`; the last value stays. `replyId`: which one that
 * is. A queued message begins with what ended before it, so that the session may never be seen at rest between two
 * replies.
 */
export function useGrowth({ agentId, sessionId }: ChosenSession, replyId: string | null, active: boolean): Growth {
  const [growth, setGrowth] = useState(nothing)
  useEffect(() => {
    if (!active) return
    const controller = new AbortController()
    setGrowth(nothing)
    // An extra beside the steps, which report whatever fails here.
    read({ agentId, sessionId }, setGrowth, controller.signal).catch(() => undefined)
    return () => controller.abort()
  }, [agentId, sessionId, replyId, active])
  return growth
}
