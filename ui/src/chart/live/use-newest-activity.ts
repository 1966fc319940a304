/** The session to follow: one that runs, else the one that was active last. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { isRunning } from '../machine.ts'
import { type Actor, actorsQuery } from '../queries.ts'
import type { ChosenSession } from '../sessions/session-in-url.ts'
import { newestSessions } from '../sessions/session-picker.tsx'

const everyMs = 1_000

/**
 * Returns the followed session for as long as it runs; then the one that began to run last; then the one that moved
 * last.
 */
function newestOf(actors: readonly Actor[], current: string | undefined): Actor | undefined {
  const rank = (actor: Actor) =>
    `${isRunning(actor.state) ? 1 : 0}${isRunning(actor.state) && actor.sessionId === current ? 1 : 0}${actor.since}`
  return actors.toSorted((one, other) => rank(other).localeCompare(rank(one)))[0]
}

export function useNewestActivity(enabled: boolean): { newest: ChosenSession | null; isPending: boolean } {
  const [newest, setNewest] = useState<ChosenSession | null>(null)
  const actors = useQuery({ ...actorsQuery(everyMs), enabled })
  const stored = useQuery({ ...newestSessions, enabled })
  const actor = newestOf(actors.data?.actors ?? [], newest?.sessionId)
  const session = stored.data?.sessions[0]
  const agentId = actor?.agentId ?? session?.agentId
  const sessionId = actor?.sessionId ?? session?.id
  // When no actor is live, the last session stays: it may be newer than the list that was read.
  const stays = actor === undefined && newest !== null
  useEffect(() => {
    if (!enabled || stays || agentId === undefined || sessionId === undefined) return
    setNewest((before) => (before?.sessionId === sessionId ? before : { agentId, sessionId }))
  }, [enabled, stays, agentId, sessionId])
  const isFound = sessionId !== undefined
  return { newest, isPending: enabled && (isFound || actors.isPending || stored.isPending) }
}
