/** The failures, by error code, provider and HTTP status: most frequent first, each with its newest session. */
import { Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { headlineOf } from '../blocks/messages/outcome.ts'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { timeOfDay } from '../blocks/time-words.ts'
import { plural } from '../blocks/words.ts'
import { providerResource } from '../providers/resource.ts'
import type { SessionOverview } from '../sessions/queries.ts'
import { agentsOf, binsOf, type Cause } from './causes.ts'
import classes from './failures.module.css'

/** Rows; the list of sessions has the rest. */
const SHOWN = 6

type Row = Cause<SessionOverview>

interface FailuresProps {
  title: string
  causes: readonly Row[]
  /** The time that is shown, in milliseconds since 1970. */
  span: { from: number; to: number }
}

export function Failures({ title, causes, span }: FailuresProps) {
  const providers = useQuery(providerResource.all).data ?? []
  const all = causes.reduce((sum, { count }) => sum + count, 0)
  const names = new Map(providers.map(({ id, name }) => [id, name]))
  return (
    <section className={classes.failures} aria-labelledby="failures">
      <Title order={2} id="failures">
        {title}
      </Title>
      {causes.length === 0 ? (
        <p>Nothing failed.</p>
      ) : (
        <ul>
          {causes.slice(0, SHOWN).map((row) => (
            <FailureRow
              key={row.key}
              row={row}
              provider={names.get(row.providerId ?? '') ?? null}
              share={row.count / all}
              bins={binsOf(row.times, span)}
            />
          ))}
        </ul>
      )}
      {causes.length > SHOWN && <Link to="/sessions?status=error">All failures</Link>}
    </section>
  )
}

/** Returns the address of the list of a row's sessions. */
function listOf({ code, providerId, status, agents }: Row): string {
  const filters = new URLSearchParams({ status: 'error', errorCode: code })
  const [agentId, ...others] = agents.keys()
  if (agentId !== undefined && others.length === 0) filters.set('agentId', agentId)
  if (providerId !== null) filters.set('providerId', providerId)
  if (status !== null) filters.set('httpStatus', String(status))
  return `/sessions?${filters}`
}

interface FailureRowProps {
  row: Row
  provider: string | null
  /** Of all that failed. */
  share: number
  /** The numbers of failures, over the time that is shown. */
  bins: readonly number[]
}

function FailureRow({ row, provider, share, bins }: FailureRowProps) {
  const { code, status, count, newest, since } = row
  return (
    <li>
      <Link to={listOf(row)} title={code}>
        <b>{headlineOf({ code, message: '' })}</b> <span dir="auto">{agentsOf(row)}</span>
      </Link>
      {(provider !== null || status !== null) && (
        <span className={classes.cause}>{[status && `HTTP ${status}`, provider].filter(Boolean).join(' · ')}</span>
      )}
      <span className={classes.over} aria-hidden>
        {bins.map((count, bin) => (
          <i key={bin} style={{ height: `${count === 0 ? 0 : Math.max(15, (100 * count) / Math.max(...bins))}%` }} />
        ))}
      </span>
      <span className={classes.count}>
        {plural(count, 'session')} ({Math.round(100 * share)} %) since {timeOfDay(Date.parse(since))}
      </span>
      <Link to={`/replies/${newest.id}`} className={classes.newest}>
        newest <RelativeTime iso={newest.updatedAt} />
      </Link>
    </li>
  )
}
