/** Shows the person on call what runs, what is stuck, what waits, what has failed; each leads to its sessions. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { headlineOf } from '../blocks/messages/outcome.ts'
import { timeOfDay } from '../blocks/time-words.ts'
import { useNow } from '../blocks/use-now.ts'
import { wholeNumber } from '../blocks/words.ts'
import { type Actor, actorsQuery } from '../chart/queries.ts'
import { allSessions, type SessionOverviewList } from '../sessions/queries.ts'
import { useSilences } from '../traces/silence/use-silence.ts'
import { firstHour, hoursOf } from '../usage/last-day/hours.ts'
import { LastDay, type Span } from '../usage/last-day/last-day.tsx'
import { figuresQuery, type UsageFiguresRow } from '../usage/queries.ts'
import { waitingCount } from '../waiting/queries.ts'
import { Attention } from './attention.tsx'
import { causesOf, sentenceOf } from './causes.ts'
import { Failures } from './failures.tsx'
import classes from './on-call.module.css'

/** The most that a list gives; what is counted of it is a lower bound beyond. */
const MOST = 100
const HOUR_MS = 3_600_000
/** A reply that has brought nothing for so long is looked at. */
const SILENT_MS = 60_000
const every = { refetchInterval: 5_000 }

const serverOf = ({ instanceId }: Actor): string => instanceId

const countOf = ({ total, more }: SessionOverviewList): string => `${wholeNumber(total)}${more ? '+' : ''}`

export function OnCall() {
  const running = useQuery({ ...allSessions({ status: 'streaming', limit: 1 }), ...every }).data
  const silent = [...useSilences().values()].filter(({ ms }) => ms >= SILENT_MS).length
  const servers = new Set(useQuery(actorsQuery(every.refetchInterval)).data?.actors.map(serverOf)).size
  const waiting = useQuery(waitingCount).data
  const failed = useQuery({ ...allSessions({ status: 'error', limit: MOST, include: 'reply' }), ...every }).data
  const now = useNow()
  const [span, setSpan] = useState<Span | null>(null)
  const inSpan = useQuery({
    ...allSessions({ status: 'error', limit: MOST, include: 'reply', ...(span && isoOf(span)) }),
    enabled: span !== null,
  }).data
  const lately = failed?.sessions.filter(({ updatedAt }) => now - Date.parse(updatedAt) < HOUR_MS)
  const first = firstHour(now)
  const day = useQuery(figuresQuery('hour', { from: new Date(first).toISOString() })).data
  const causes = causesOf(lately ?? [])
  const words = (code: string) => headlineOf({ code, message: '' })
  const sentence =
    day &&
    lately &&
    sentenceOf({ causes, words, silent, hours: hoursOf(day.rows, first), firstTokenMs: firstTokenOf(day.rows) })
  const facts = [
    {
      to: '/sessions?status=streaming',
      count: running && countOf(running),
      name: servers > 1 ? `running on ${servers} servers` : 'running',
      isBad: false,
    },
    {
      to: '/chart?view=actors',
      count: wholeNumber(silent),
      name: 'silent for over 60 s',
      isBad: silent > 0,
    },
    {
      to: '/waiting',
      count: waiting === undefined ? undefined : wholeNumber(waiting),
      name: 'waiting for approval',
      isBad: false,
    },
    {
      to: '/sessions?status=error&newer=1h',
      count: lately && `${wholeNumber(lately.length)}${lately.length === MOST ? '+' : ''}`,
      name: 'failed in the last hour',
      isBad: (lately?.length ?? 0) > 0,
    },
  ]
  return (
    <section aria-label="Right now" className={classes.call}>
      <p className={classes.sentence} data-level={sentence?.level} role="status">
        {sentence?.text ?? '…'}
      </p>
      <ul className={classes.strip}>
        {facts.map(({ to, count, name, isBad }) => (
          <li key={name} data-bad={isBad || undefined}>
            <Link to={to}>
              <b>{count ?? '–'}</b> {name}
            </Link>
          </li>
        ))}
      </ul>
      <LastDay now={now} span={span} onChange={setSpan} />
      {failed && (span === null ? (lately?.length ?? 0) > 0 : inSpan) && (
        <Failures
          title={span === null ? 'What failed in the last hour' : `What failed ${spanWords(span)}`}
          causes={span === null ? causes : causesOf(inSpan?.sessions ?? [])}
          span={span ?? { from: now - HOUR_MS, to: now }}
        />
      )}
      <Attention />
    </section>
  )
}

/** Returns the median of the newest hour in which one is known. `rows`: by hour, in any order. */
function firstTokenOf(rows: readonly UsageFiguresRow[]): number | null {
  const known = rows.filter(({ firstTokenMs }) => firstTokenMs.p50 !== null)
  return known.toSorted((one, other) => other.key.localeCompare(one.key))[0]?.firstTokenMs.p50 ?? null
}

const isoOf = ({ from, to }: Span) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })

const spanWords = ({ from, to }: Span): string => `from ${timeOfDay(from)} to ${timeOfDay(to)}`
