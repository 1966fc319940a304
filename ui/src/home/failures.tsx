/** What failed, by error code, provider and HTTP status: most frequent first, each with its newest session. */
import { Title } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { plural } from '../blocks/words.ts'
import { providerResource } from '../providers/resource.ts'
import type { SessionOverview } from '../sessions/queries.ts'
import { failureOf } from './failure-of.ts'
import classes from './failures.module.css'

/** Sessions whose reply is read for its provider and status: each takes a request. */
const READ = 12
/** Rows; the list of sessions has the rest. */
const SHOWN = 6

interface Row {
  code: string
  /** Null where it is not known, or no provider was involved. */
  provider: string | null
  status: number | null
  agentId: string
  agentName: string
  count: number
  newest: SessionOverview
}

export function Failures({ title, failed }: { title: string; failed: readonly SessionOverview[] }) {
  const providers = useQuery(providerResource.all).data ?? []
  const read = useQueries({ queries: failed.slice(0, READ).map(failureOf) })
  const names = new Map(providers.map(({ id, name }) => [id, name]))
  const rows = new Map<string, Row>()
  for (const [place, session] of failed.entries()) {
    const { errorCode, agentId, agentName } = session
    const { providerId = null, status = null } = read[place]?.data ?? {}
    const key = `${errorCode} ${agentId} ${providerId} ${status}`
    const before = rows.get(key)
    const provider = names.get(providerId ?? '') ?? null
    if (before) before.count += 1
    else
      rows.set(key, { code: errorCode ?? 'unknown', provider, status, agentId, agentName, count: 1, newest: session })
  }
  const sorted = [...rows.entries()].sort(([, a], [, b]) => b.count - a.count)
  return (
    <section className={classes.failures} aria-labelledby="failures">
      <Title order={2} id="failures">
        {title}
      </Title>
      {sorted.length === 0 ? (
        <p>Nothing failed.</p>
      ) : (
        <ul>
          {sorted.slice(0, SHOWN).map(([key, row]) => (
            <FailureRow key={key} row={row} />
          ))}
        </ul>
      )}
      {sorted.length > SHOWN && <Link to="/sessions?status=error">All that failed</Link>}
    </section>
  )
}

const FailureRow = ({ row: { code, provider, status, agentId, agentName, count, newest } }: { row: Row }) => (
  <li>
    <Link to={`/sessions?status=error&errorCode=${code}&agentId=${agentId}`}>
      <code>{code}</code> <span dir="auto">{agentName}</span>
    </Link>
    {(provider !== null || status !== null) && (
      <span className={classes.cause}>{[provider, status && `HTTP ${status}`].filter(Boolean).join(' · ')}</span>
    )}
    <span className={classes.count}>{plural(count, 'session')}</span>
    <Link to={`/playground/${newest.agentId}/${newest.id}`} className={classes.newest}>
      newest <RelativeTime iso={newest.updatedAt} />
    </Link>
  </li>
)
