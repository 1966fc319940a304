/** For whoever is on call: what runs, what is stuck, what waits, what has failed lately; each leads to its sessions. */
import { Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { useNow } from '../blocks/use-now.ts'
import { plural } from '../blocks/words.ts'
import { allSessions, type SessionOverview, type SessionOverviewList } from '../sessions/queries.ts'
import { waitingCount } from '../waiting/queries.ts'
import classes from './on-call.module.css'

/** The most that a list gives; what is counted of it is a lower bound beyond. */
const MOST = 100
const STUCK_MS = 60_000
const HOUR_MS = 3_600_000
const every = { refetchInterval: 5_000 }

const countOf = ({ total, more }: SessionOverviewList): string => `${total.toLocaleString('en')}${more ? '+' : ''}`

export function OnCall() {
  const running = useQuery({ ...allSessions({ status: 'streaming', limit: MOST }), ...every }).data
  const waiting = useQuery(waitingCount).data
  const failed = useQuery({ ...allSessions({ status: 'error', limit: MOST }), ...every }).data
  const now = useNow()
  const since = ({ updatedAt }: SessionOverview) => now - Date.parse(updatedAt)
  const stuck = running?.sessions.filter((one) => since(one) > STUCK_MS)
  const lately = failed?.sessions.filter((one) => since(one) < HOUR_MS)
  const atLeast = (found: readonly SessionOverview[]) =>
    `${found.length.toLocaleString('en')}${found.length === MOST ? '+' : ''}`
  const facts = [
    { to: '/sessions?status=streaming', count: running && countOf(running), name: 'running', isBad: false },
    {
      to: '/sessions?status=streaming',
      count: stuck && atLeast(stuck),
      name: 'for more than 60 s',
      isBad: (stuck?.length ?? 0) > 0,
    },
    { to: '/waiting', count: waiting?.toLocaleString('en'), name: 'waiting for approval', isBad: false },
    {
      to: '/sessions?status=error',
      count: lately && atLeast(lately),
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
      {lately && lately.length > 0 && <Failures failed={lately} />}
    </section>
  )
}

interface Failure {
  code: string
  agentId: string
  agentName: string
  count: number
  newest: SessionOverview
}

/** Most frequent first. */
function failuresOf(failed: readonly SessionOverview[]): Failure[] {
  const found = new Map<string, Failure>()
  for (const session of failed) {
    const { errorCode, agentId, agentName } = session
    const key = `${errorCode} ${agentId}`
    const before = found.get(key)
    if (before) before.count += 1
    else found.set(key, { code: errorCode ?? 'unknown', agentId, agentName, count: 1, newest: session })
  }
  return [...found.values()].sort((a, b) => b.count - a.count)
}

/** Rows; the list of sessions has the rest. */
const SHOWN = 6

function Failures({ failed }: { failed: readonly SessionOverview[] }) {
  const failures = failuresOf(failed)
  return (
    <div className={classes.failures}>
      <Title order={2}>What failed in the last hour</Title>
      <ul>
        {failures.slice(0, SHOWN).map(({ code, agentId, agentName, count, newest }) => (
          <li key={`${code} ${agentId}`}>
            <Link to={`/sessions?status=error&errorCode=${code}&agentId=${agentId}`}>
              <code>{code}</code> <span dir="auto">{agentName}</span>
            </Link>
            <span className={classes.count}>{plural(count, 'session')}</span>
            <Link to={`/playground/${newest.agentId}/${newest.id}`} className={classes.newest}>
              newest <RelativeTime iso={newest.updatedAt} />
            </Link>
          </li>
        ))}
      </ul>
      {failures.length > SHOWN && <Link to="/sessions?status=error">All that failed</Link>}
    </div>
  )
}
