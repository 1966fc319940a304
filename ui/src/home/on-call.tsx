/** Shows the person on call what runs, what is stuck, what waits, what has failed; each leads to its sessions. */
import { useQuery } from '@tanstack/react-query'
import { memo, useDeferredValue, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { timeOfDay } from '../blocks/time-words.ts'
import { wholeNumber } from '../blocks/words.ts'
import { queryClient } from '../query-client.ts'
import { allSessions, type SessionOverviewList } from '../sessions/queries.ts'
import { turn } from '../shell/reliable-import.ts'
import { serverNow } from '../shell/server-clock.ts'
import { hourMs } from '../usage/last-day/hours.ts'
import { LastDay, type Span } from '../usage/last-day/last-day.tsx'
import { lastHours } from '../usage/queries.ts'
import { waitingCount } from '../waiting/queries.ts'
import { Attention } from './attention.tsx'
import { causesOf, type Sentence } from './causes.ts'
import { Failures } from './failures.tsx'
import classes from './on-call.module.css'
import { every, MOST, standingActors, standingFailures, useStanding } from './use-standing.ts'

const countOf = ({ total, more }: SessionOverviewList): string => `${wholeNumber(total)}${more ? '+' : ''}`

const runningCount = { ...allSessions({ status: 'streaming', limit: 1 }), ...every }

/**
 * Begins to read the figures, each in a turn of the browser: begun together, when they are rendered, they are the longest
 * task of the page.
 */
export async function readFigures(): Promise<void> {
  const reads = [
    () => queryClient.prefetchQuery(standingActors),
    () => queryClient.prefetchQuery(standingFailures),
    () => queryClient.prefetchQuery(lastHours(serverNow())),
    () => queryClient.prefetchQuery(runningCount),
    () => queryClient.prefetchQuery(waitingCount),
  ]
  for (const read of reads) {
    void read()
    await turn()
  }
}

/** Two dozen bars and a slider, which are the same from second to second. */
const Bars = memo(LastDay)

/** `onSentence`: called with the one sentence below the page's title whenever it changes. */
export function OnCall({ onSentence }: { onSentence: (sentence: Sentence | undefined) => void }) {
  const { silent, servers, failed, lately, causes, sentence, now } = useStanding()
  const { text, level } = sentence ?? {}
  useEffect(() => onSentence(text && level ? { text, level } : undefined), [onSentence, text, level])
  // Rendered after the figures: the requests of both in one turn are a long task.
  const isSecond = useDeferredValue(true, false)
  const running = useQuery(runningCount).data
  const waiting = useQuery(waitingCount).data
  const [span, setSpan] = useState<Span | null>(null)
  const inSpan = useQuery({
    ...allSessions({ status: 'error', limit: MOST, include: 'reply', ...(span && isoOf(span)) }),
    enabled: span !== null,
  }).data
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
      name: 'waiting for an answer',
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
      <ul className={classes.strip}>
        {facts.map(({ to, count, name, isBad }) => (
          <li key={name} data-bad={isBad || undefined}>
            <Link to={to}>
              <b>{count ?? '–'}</b> {name}
            </Link>
          </li>
        ))}
      </ul>
      <Bars now={now - (now % hourMs)} span={span} onChange={setSpan} />
      {failed && (span === null ? (lately?.length ?? 0) > 0 : inSpan) && (
        <Failures
          title={span === null ? 'What failed in the last hour' : `What failed ${spanWords(span)}`}
          causes={span === null ? causes : causesOf(inSpan?.sessions ?? [])}
          span={span ?? { from: now - hourMs, to: now }}
        />
      )}
      {isSecond && <Attention />}
    </section>
  )
}

const isoOf = ({ from, to }: Span) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })

const spanWords = ({ from, to }: Span): string => `from ${timeOfDay(from)} to ${timeOfDay(to)}`
