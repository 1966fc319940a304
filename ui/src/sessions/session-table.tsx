import { ActionIcon, Checkbox, Table, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconSitemap } from '@tabler/icons-react'
import { Link } from 'react-router'
import blocks from '../blocks/blocks.module.css'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { RunningDuration } from '../blocks/running-duration.tsx'
import type { FilterName } from './filters-in-url.ts'
import type { SessionOverview } from './queries.ts'
import classes from './sessions.module.css'
import { StatusMark } from './status-mark.tsx'
import { sessionName } from './words.ts'

/** A reply that has run for longer is looked at. */
const STUCK_MS = 60_000

interface SessionTableProps {
  sessions: readonly SessionOverview[]
  isStale: boolean
  selected: ReadonlySet<string>
  onSelect: (ids: ReadonlySet<string>) => void
  onFilter: (name: FilterName, value: string) => void
}

export function SessionTable({ sessions, isStale, selected, onSelect, onFilter }: SessionTableProps) {
  const all = sessions.length > 0 && sessions.every(({ id }) => selected.has(id))
  const toggle = (id: string) => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    onSelect(next)
  }
  return (
    <div className={blocks.card}>
      <Table className={`${blocks.table} ${classes.table}`} aria-label="Sessions" aria-busy={isStale}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className={classes.check ?? ''}>
              <Checkbox
                size="xs"
                aria-label="Select all on this page"
                checked={all}
                indeterminate={!all && selected.size > 0}
                onChange={() => onSelect(new Set(all ? [] : sessions.map(({ id }) => id)))}
              />
            </Table.Th>
            <Table.Th>Session</Table.Th>
            <Table.Th className={classes.statusColumn ?? ''}>Status</Table.Th>
            <Table.Th data-minor className={classes.agentColumn ?? ''}>
              Agent
            </Table.Th>
            <Table.Th data-minor className={classes.userColumn ?? ''}>
              User
            </Table.Th>
            <Table.Th data-minor className={classes.timeColumn ?? ''}>
              Updated
            </Table.Th>
            <Table.Th data-minor className={classes.actionColumn ?? ''}>
              <VisuallyHidden>Replay</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map((session) => (
            <Row
              key={session.id}
              session={session}
              isSelected={selected.has(session.id)}
              onToggle={() => toggle(session.id)}
              onFilter={onFilter}
            />
          ))}
          {sessions.length === 0 && (
            <Table.Tr>
              <Table.Td colSpan={7} ta="center" c="dimmed" py="lg">
                No results
              </Table.Td>
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
    </div>
  )
}

interface RowProps {
  session: SessionOverview
  isSelected: boolean
  onToggle: () => void
  onFilter: SessionTableProps['onFilter']
}

function Row({ session, isSelected, onToggle, onFilter }: RowProps) {
  const { id, agentId, agentName, user, status, errorCode, updatedAt } = session
  const name = sessionName(session)
  return (
    <Table.Tr data-selected={isSelected || undefined}>
      <Table.Td className={classes.check ?? ''}>
        <Checkbox size="xs" aria-label={`Select “${name}”`} checked={isSelected} onChange={onToggle} />
      </Table.Td>
      <Table.Td>
        <Link
          to={`/playground/${agentId}/${id}`}
          className={`${blocks.rowLink} ${classes.name}`}
          title={name}
          dir="auto"
        >
          {name}
        </Link>
        <span className={classes.narrowAgent}>{agentName}</span>
      </Table.Td>
      <Table.Td>
        <StatusMark status={status} />
        {status === 'streaming' && <RunningDuration since={updatedAt} lateAfterMs={STUCK_MS} />}
        {errorCode !== null && (
          <FilterWord value={errorCode} label="Only this error code" onClick={() => onFilter('errorCode', errorCode)} />
        )}
      </Table.Td>
      <Table.Td data-minor>
        <FilterWord value={agentName} label="Only this agent" onClick={() => onFilter('agentId', agentId)} />
      </Table.Td>
      <Table.Td data-minor>
        {user !== null && <FilterWord value={user} label="Only this user" onClick={() => onFilter('user', user)} />}
      </Table.Td>
      <Table.Td data-minor>
        <RelativeTime iso={updatedAt} />
      </Table.Td>
      <Table.Td data-minor className={classes.actionColumn ?? ''}>
        <Tooltip label="Replay in the state chart">
          <ActionIcon
            component={Link}
            to={`/chart?view=replay&agent=${agentId}&session=${id}`}
            className={classes.above ?? ''}
            variant="subtle"
            color="gray"
            aria-label={`Replay “${name}” in the state chart`}
          >
            <IconSitemap size={16} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
      </Table.Td>
    </Table.Tr>
  )
}

/** A value that narrows the list to itself. */
const FilterWord = ({ value, label, onClick }: { value: string; label: string; onClick: () => void }) => (
  <button type="button" className={classes.word} title={`${label}: ${value}`} onClick={onClick}>
    <bdi>{value}</bdi>
  </button>
)
