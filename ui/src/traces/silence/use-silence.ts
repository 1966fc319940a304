/** The silence of a reply that runs, from its newest stored frame. */
import { useQuery } from '@tanstack/react-query'
import { useNow } from '../../blocks/use-now.ts'
import { type Actor, actorsQuery, readersQuery } from '../../chart/queries.ts'
import { type Silence, silenceOf } from './silence.ts'

/** Returns the silence of the session's reply, which began then (ISO 8601). Null while it brings something. */
export function useSilence(sessionId: string, beganAt: string, isRunning = true): Silence | null {
  const { data } = useQuery({ ...readersQuery(sessionId), enabled: isRunning, gcTime: 0 })
  const now = useNow(isRunning)
  if (!isRunning || !data?.newest) return null
  return silenceOf(Date.parse(data.newest.storedAt), Date.parse(beganAt), now, data)
}

const everyMs = 5_000

/** Returns the live actors whose replies are silent, by their sessions. */
export function useSilences(isAsked = true): ReadonlyMap<string, Silence> {
  const { data } = useQuery({ ...actorsQuery(everyMs), enabled: isAsked })
  const now = useNow(isAsked)
  if (!isAsked || data === undefined) return new Map()
  const found = ({ sessionId, since, newestAt }: Actor): [string, Silence][] => {
    const silence = newestAt === null ? null : silenceOf(Date.parse(newestAt), Date.parse(since), now, data)
    return silence === null ? [] : [[sessionId, silence]]
  }
  return new Map(data.actors.flatMap(found))
}
