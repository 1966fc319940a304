/** The failures by cause, and the one sentence that says how things stand. Pure. */
import { timeOfDay } from '../blocks/time-words.ts'
import { plural } from '../blocks/words.ts'
import { duration } from '../chart/words.ts'

/** A session whose newest reply failed, as far as it matters here. */
export interface Failed {
  id: string
  agentId: string
  agentName: string
  errorCode: string | null
  updatedAt: string
  reply?: { providerId: string | null; httpStatus: number | null } | null
}

export interface Cause<Of extends Failed = Failed> {
  key: string
  code: string
  /** Null where it is not known, or no provider was involved. */
  providerId: string | null
  /** The HTTP status that the provider answered. Null when it is not known. */
  status: number | null
  /** Names by id: one key that has expired is one cause, however many agents use it. */
  agents: Map<string, string>
  count: number
  newest: Of
  /** The time at which the oldest of them failed: ISO 8601. */
  since: string
  /** The times of all of them, in milliseconds since 1970. */
  times: number[]
}

/** Returns the causes, by error code, provider and HTTP status: most frequent first. `failed`: newest first. */
export function causesOf<Of extends Failed>(failed: readonly Of[]): Cause<Of>[] {
  const causes = new Map<string, Cause<Of>>()
  for (const session of failed) {
    const { errorCode, agentId, agentName, updatedAt, reply } = session
    const { providerId = null, httpStatus: status = null } = reply ?? {}
    const key = `${errorCode} ${providerId} ${status}`
    const cause: Cause<Of> = causes.get(key) ?? {
      ...{ key, code: errorCode ?? 'unknown', providerId, status },
      ...{ agents: new Map(), count: 0, newest: session, since: updatedAt, times: [] },
    }
    cause.agents.set(agentId, agentName)
    cause.times.push(Date.parse(updatedAt))
    causes.set(key, { ...cause, count: cause.count + 1, since: updatedAt < cause.since ? updatedAt : cause.since })
  }
  return [...causes.values()].sort((a, b) => b.count - a.count)
}

export const agentsOf = ({ agents }: Pick<Cause, 'agents'>): string =>
  agents.size === 1 ? ([...agents.values()][0] ?? '') : plural(agents.size, 'agent')

const BINS = 12

/** Returns how many of these times lie in each twelfth of the span. */
export function binsOf(times: readonly number[], { from, to }: { from: number; to: number }): number[] {
  const bins = Array.from({ length: BINS }, () => 0)
  for (const time of times) {
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor((BINS * (time - from)) / (to - from))))
    bins[bin] = (bins[bin] ?? 0) + 1
  }
  return bins
}

/** Of the replies of the last two hours: fewer failures are no incident. */
const INCIDENT = 0.05

/** The replies of an hour. */
interface Hour {
  replies: number
  failures: number
}

interface Standing {
  causes: readonly Cause[]
  /** Returns the words for a code: in short, what failed. */
  words: (code: string) => string
  silent: number
  hours: readonly Hour[]
  /** The hours of the day before. */
  before: readonly Hour[]
  /** Half of the newest hour’s replies took less to their first token. Null where none is known. */
  firstTokenMs: number | null
}

export interface Sentence {
  level: 'good' | 'look' | 'bad'
  text: string
}

/** Returns how things stand: what fails most, else how many are silent, else that all is well. */
export function sentenceOf({ causes, words, silent, hours, before, firstTokenMs }: Standing): Sentence {
  const [worst] = causes
  const sum = (of: 'replies' | 'failures', among = hours) => among.reduce((all, hour) => all + hour[of], 0)
  if (worst && worst.count >= INCIDENT * sum('replies', hours.slice(-2))) {
    const verb = worst.agents.size === 1 ? 'has' : 'have'
    const reason = words(worst.code)
    const since = `${agentsOf(worst)} ${verb} failed since ${timeOfDay(Date.parse(worst.since))}`
    const inWords = `${reason.charAt(0).toLowerCase()}${reason.slice(1)}`
    return { level: 'bad', text: `${since}: ${inWords} (${plural(worst.count, 'session')})` }
  }
  if (silent > 0) {
    return { level: 'look', text: `${plural(silent, 'reply is', 'replies are')} silent for over 60 s` }
  }
  const replies = sum('replies')
  const share = (among: readonly Hour[]) => {
    const all = sum('replies', among)
    return all === 0 ? 0 : Math.round((1000 * sum('failures', among)) / all) / 10
  }
  const first = firstTokenMs === null ? '' : `, first token ${duration(firstTokenMs)}`
  const compared = sum('replies', before) === 0 ? '' : ` (${share(before)} % the day before)`
  const counted = `${plural(replies, 'reply', 'replies')} in 24 hours, ${share(hours)} % failed${compared}`
  return { level: 'good', text: `All well: ${counted}${first}` }
}
