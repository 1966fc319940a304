/** `/waiting`: the pending calls of all agents, the oldest first, to be decided one after the other. */
import { Table } from '@mantine/core'
import { IconHandStop } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Link } from 'react-router'
import { ToolName } from '../agents/tool-name.tsx'
import { AwaitedRows } from '../blocks/awaited/awaited-rows.tsx'
import blocks from '../blocks/blocks.module.css'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { usePageKeys } from '../blocks/pages/page-keys.ts'
import { Pager } from '../blocks/pages/pager.tsx'
import { usePaging } from '../blocks/pages/paging.ts'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { sessionName } from '../sessions/words.ts'
import { ApproveMany } from './approve-many.tsx'
import { givenTo } from './given.ts'
import classes from './inbox.module.css'
import { Inbox } from './inbox.tsx'
import { PAGE, type WaitingSession, waitingSessions } from './queries.ts'

export function Component() {
  const paging = usePaging()
  const { offset } = paging.params
  const query = useQuery({ ...waitingSessions(offset), placeholderData: keepPreviousData })
  return (
    <WhenRead query={query} awaited={<SessionsTable />}>
      {({ sessions, total }) => (
        <>
          <ErrorAlert error={query.error} mb="md" />
          {total === 0 ? (
            <NothingWaits />
          ) : (
            <>
              <Waiting sessions={sessions} />
              <Pager total={total} limit={PAGE} offset={offset} onOffset={paging.setOffset} />
            </>
          )}
        </>
      )}
    </WhenRead>
  )
}

const NothingWaits = () => (
  <EmptyState icon={IconHandStop} title="Nothing is waiting" leadTo={{ path: '/agents', label: 'Open the agents' }}>
    An agent’s approvals say which of its tools ask before they are called.
  </EmptyState>
)

/** The list, and beside it the session that is to be decided: the first one until another is chosen. */
function Waiting({ sessions }: { sessions: readonly WaitingSession[] }) {
  const [chosenId, choose] = useState<string | null>(null)
  const place = Math.max(
    0,
    sessions.findIndex(({ id }) => id === chosenId),
  )
  const chosen = sessions[place]
  const move = (by: number) => choose(sessions[Math.min(Math.max(place + by, 0), sessions.length - 1)]?.id ?? null)
  const decision = useRef<HTMLElement>(null)
  // Below the list, where there is no room beside it, it would change unseen.
  const show = (id: string) => {
    flushSync(() => choose(id))
    decision.current?.scrollIntoView({ block: 'nearest' })
  }
  usePageKeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
  ])
  return (
    <>
      <ApproveMany sessions={sessions} />
      <div className={classes.columns}>
        <SessionsTable
          rows={sessions.map((session) => (
            <Row key={session.id} session={session} isChosen={session === chosen} onChoose={() => show(session.id)} />
          ))}
        />
        {chosen && <Inbox key={chosen.id} session={chosen} ref={decision} />}
      </div>
    </>
  )
}

/** `rows` are absent until they are read. */
const SessionsTable = ({ rows }: { rows?: ReactNode }) => (
  <div className={blocks.card}>
    <Table className={`${blocks.table} ${classes.list}`} aria-label="Waiting sessions" aria-busy={rows === undefined}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Session</Table.Th>
          <Table.Th className={classes.calls ?? ''}>Requested calls</Table.Th>
          <Table.Th data-minor w="9rem" data-column="agent">
            Agent
          </Table.Th>
          <Table.Th data-minor w="8rem" data-column="user">
            User
          </Table.Th>
          <Table.Th data-minor w="8rem">
            Since
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{rows ?? <AwaitedRows columns={5} />}</Table.Tbody>
    </Table>
  </div>
)

interface RowProps {
  session: WaitingSession
  isChosen: boolean
  onChoose: () => void
}

function Row({ session, isChosen, onChoose }: RowProps) {
  const { id, agentId, agentName, user, pending, updatedAt } = session
  return (
    <Table.Tr data-chosen={isChosen || undefined}>
      <Table.Td>
        <Link to={`/playground/${agentId}/${id}`} className={blocks.rowLink ?? ''} dir="auto">
          {sessionName(session)}
        </Link>
      </Table.Td>
      <Table.Td>
        <button
          type="button"
          className={classes.choose}
          aria-pressed={isChosen}
          title={givenTo(pending)}
          onClick={onChoose}
        >
          <code>
            {pending.map(({ call_id, name }, place) => (
              <Fragment key={`${call_id} ${place}`}>
                {place > 0 && ', '}
                <ToolName seen={name} />
              </Fragment>
            ))}
          </code>
          <span className={classes.given}>{givenTo(pending)}</span>
        </button>
      </Table.Td>
      <Table.Td data-minor data-column="agent">
        {agentName}
      </Table.Td>
      <Table.Td data-minor data-column="user">
        {user}
      </Table.Td>
      <Table.Td data-minor>
        <RelativeTime iso={updatedAt} />
      </Table.Td>
    </Table.Tr>
  )
}
