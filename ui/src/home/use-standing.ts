/** How things stand now, as the figures of Home and their one sentence tell it. */
import { useQuery } from '@tanstack/react-query'
import { headlineOf } from '../blocks/messages/outcome.ts'
import { useNow } from '../blocks/use-now.ts'
import { actorsQuery } from '../chart/queries.ts'
import { allSessions } from '../sessions/queries.ts'
import { useSilences } from '../traces/silence/use-silence.ts'
import { firstHour, hourMs, hoursOf, shownHours } from '../usage/last-day/hours.ts'
import { lastHours, type UsageFiguresRow } from '../usage/queries.ts'
import { causesOf, sentenceOf } from './causes.ts'

/** The most that a list gives; what is counted of it is a lower bound beyond. */
export const MOST = 100
export const every = { refetchInterval: 5_000 }
export const standingActors = actorsQuery(every.refetchInterval)
export const standingFailures = { ...allSessions({ status: 'error', limit: MOST, include: 'reply' }), ...every }
/** A reply that has brought nothing for so long is looked at. */
const SILENT_MS = 60_000

export function useStanding() {
  const silent = [...useSilences().values()].filter(({ ms }) => ms >= SILENT_MS).length
  const servers = useQuery(standingActors).data?.instances.length ?? 0
  const failed = useQuery(standingFailures).data
  const now = useNow()
  const lately = failed?.sessions.filter(({ updatedAt }) => now - Date.parse(updatedAt) < hourMs)
  const first = firstHour(now)
  const day = useQuery(lastHours(now)).data
  const causes = causesOf(lately ?? [])
  const sentence =
    day &&
    lately &&
    sentenceOf({
      causes,
      words: (code) => headlineOf({ code, message: '' }),
      silent,
      hours: hoursOf(day.rows, first),
      before: hoursOf(day.rows, first - shownHours * hourMs),
      firstTokenMs: firstTokenOf(day.rows),
    })
  return { silent, servers, failed, lately, causes, sentence, now }
}

/** Returns the median of the newest hour in which one is known. `rows`: by hour, in any order. */
function firstTokenOf(rows: readonly UsageFiguresRow[]): number | null {
  const known = rows.filter(({ firstTokenMs }) => firstTokenMs.p50 !== null)
  return known.toSorted((one, other) => other.key.localeCompare(one.key))[0]?.firstTokenMs.p50 ?? null
}
