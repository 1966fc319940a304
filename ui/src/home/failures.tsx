/** The failures, by error code, provider and HTTP status: most frequent first, each with its newest session. */
import { Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { plural } from '../blocks/words.ts'
import { providerResource } from '../providers/resource.ts'
import type { SessionOverview } from '../sessions/queries.ts'
import classes from './failures.module.css'

/** Rows; the list of sessions has the rest. */
const SHOWN = 6

interface Row {
  code: string
  /** Null where it is not known, or no provider was involved. */
  providerId: string | null
  provider: string | null
  /** The HTTP status that the provider answered. Null when it is not known. */
  status: number | null
  /** Names by id: one key that has expired is one row, however many agents use it. */
  agents: Map<string, string>
  count: number
  newest: SessionOverview
}

export function Failures({ title, failed }: { title: string; failed: readonly SessionOverview[] }) {
  const providers = useQuery(providerResource.all).data ?? []
  const names = new Map(providers.map(({ id, name }) => [id, name]))
  const rows = new Map<string, Row>()
  for (const session of failed) {
    const { errorCode, agentId, agentName, reply } = session
    const { providerId = null, httpStatus: status = null } = reply ?? {}
    const key = `${errorCode} ${providerId} ${status}`
    const before = rows.get(key)
    const provider = names.get(providerId ?? '') ?? null
    if (before) {
      before.count += 1
      before.agents.set(agentId, agentName)
    } else {
      const code = errorCode ?? 'unknown'
      const agents = new Map([[agentId, agentName]])
      rows.set(key, { code, providerId, provider, status, agents, count: 1, newest: session })
    }
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
      {sorted.length > SHOWN && <Link to="/sessions?status=error">All failures</Link>}
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

const FailureRow = ({ row, row: { code, provider, status, agents, count, newest } }: { row: Row }) => (
  <li>
    <Link to={listOf(row)}>
      <code>{code}</code>{' '}
      <span dir="auto">{agents.size === 1 ? [...agents.values()] : plural(agents.size, 'agent')}</span>
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
