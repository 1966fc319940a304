import { Table } from '@mantine/core'
import { Link } from 'react-router'
import card from '../../blocks/card.module.css'
import { RunningDuration } from '../../blocks/running-duration.tsx'
import type { SessionPlace } from '../../sessions/queries.ts'
import { sessionName, shortId } from '../../sessions/words.ts'
import silenceClasses from '../../traces/silence/silence.module.css'
import type { Silence } from '../../traces/silence/silence.ts'
import { SilenceActions } from '../../traces/silence/silence-actions.tsx'
import { SilentFor } from '../../traces/silence/silent-for.tsx'
import classes from '../chart-page.module.css'
import { InstanceChip } from '../chips/instance-chip.tsx'
import { StateChip } from '../chips/state-chip.tsx'
import type { Actor } from '../queries.ts'
import { chartAddress } from '../sessions/session-in-url.ts'

interface ActorsTableProps {
  actors: readonly Actor[]
  agentNames: ReadonlyMap<string, string>
  titles: ReadonlyMap<string, string | null>
  silences: ReadonlyMap<string, Silence>
}

const Quiet = ({ silence, session }: { silence: Silence | undefined; session: SessionPlace }) =>
  silence && (
    <span className={silenceClasses.quiet}>
      <SilentFor silence={silence} isShort />
      <SilenceActions silence={silence} session={session} />
    </span>
  )

/** The one that entered its state last comes first. */
export function ActorsTable({ actors, agentNames, titles, silences }: ActorsTableProps) {
  return (
    <div className={`${card.card} ${classes.scroll}`}>
      <Table className={`${card.table} ${classes.table}`} aria-label="Running sessions">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Session</Table.Th>
            <Table.Th data-minor>State</Table.Th>
            <Table.Th>For</Table.Th>
            <Table.Th>Silent for</Table.Th>
            <Table.Th data-minor>Agent</Table.Th>
            <Table.Th data-minor>Server</Table.Th>
            <Table.Th data-minor ta="right">
              Open windows
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {actors
            .toSorted((one, other) => other.since.localeCompare(one.since))
            .map(({ sessionId, agentId, state, since, instanceId, subscribers }) => (
              <Table.Tr key={`${sessionId} ${instanceId}`}>
                <Table.Td>
                  <Link to={chartAddress('live', { agentId, sessionId })} className={classes.actorLink}>
                    {sessionName({ id: sessionId, title: titles.get(sessionId) ?? null })}
                  </Link>
                </Table.Td>
                <Table.Td data-minor>
                  <StateChip id={state} />
                </Table.Td>
                <Table.Td className={classes.number ?? ''}>
                  <RunningDuration since={since} />
                </Table.Td>
                <Table.Td>
                  <Quiet silence={silences.get(sessionId)} session={{ id: sessionId, agentId }} />
                </Table.Td>
                <Table.Td data-minor>{agentNames.get(agentId) ?? shortId(agentId)}</Table.Td>
                <Table.Td data-minor>
                  <InstanceChip id={instanceId} />
                </Table.Td>
                <Table.Td data-minor ta="right" className={classes.number ?? ''}>
                  {subscribers}
                </Table.Td>
              </Table.Tr>
            ))}
          {actors.length === 0 && (
            <Table.Tr>
              <Table.Td colSpan={7} ta="center" c="dimmed">
                No results
              </Table.Td>
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
    </div>
  )
}
