/** `/waiting`: the pending calls of all agents, the oldest first. */
import { Skeleton, Table } from '@mantine/core'
import { IconHandStop } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import blocks from '../blocks/blocks.module.css'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Pager } from '../blocks/pages/pager.tsx'
import { usePaging } from '../blocks/pages/paging.ts'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { sessionName } from '../sessions/words.ts'
import { PAGE, type WaitingSession, waitingSessions } from './queries.ts'

export function Component() {
  const paging = usePaging()
  const { offset } = paging.params
  const { data, error } = useQuery({ ...waitingSessions(offset), placeholderData: keepPreviousData })
  return (
    <>
      <ErrorAlert error={error} mb="md" />
      {data === undefined && error === null && <Skeleton height={200} radius="lg" />}
      {data?.total === 0 && (
        <EmptyState
          icon={IconHandStop}
          title="Nothing is waiting"
          leadTo={{ path: '/agents', label: 'Open the agents' }}
        >
          An agent’s approvals say which of its tools ask before they are called.
        </EmptyState>
      )}
      {data !== undefined && data.total > 0 && (
        <>
          <div className={blocks.card}>
            <Table className={blocks.table ?? ''} aria-label="Waiting sessions">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Session</Table.Th>
                  <Table.Th>Requested calls</Table.Th>
                  <Table.Th data-minor>Agent</Table.Th>
                  <Table.Th data-minor>User</Table.Th>
                  <Table.Th data-minor>Since</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.sessions.map((session) => (
                  <Row key={session.id} session={session} />
                ))}
              </Table.Tbody>
            </Table>
          </div>
          <Pager total={data.total} limit={PAGE} offset={offset} onOffset={paging.setOffset} />
        </>
      )}
    </>
  )
}

function Row({ session }: { session: WaitingSession }) {
  const { id, agentId, agentName, user, pending, updatedAt } = session
  return (
    <Table.Tr>
      <Table.Td>
        <Link to={`/playground/${agentId}/${id}`} className={blocks.rowLink ?? ''} dir="auto">
          {sessionName(session)}
        </Link>
      </Table.Td>
      <Table.Td>
        <code>{pending.map(({ name }) => name).join(', ')}</code>
      </Table.Td>
      <Table.Td data-minor>{agentName}</Table.Td>
      <Table.Td data-minor>{user}</Table.Td>
      <Table.Td data-minor>
        <RelativeTime iso={updatedAt} />
      </Table.Td>
    </Table.Tr>
  )
}
