import { ActionIcon, Checkbox, Table, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconTimeline } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'react-router'
import { AwaitedRows } from '../blocks/awaited/awaited-rows.tsx'
import blocks from '../blocks/blocks.module.css'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { RunningDuration } from '../blocks/running-duration.tsx'
import { wholeNumber } from '../blocks/words.ts'
import { duration } from '../chart/words.ts'
import type { Silence } from '../traces/silence/silence.ts'
import { SilentFor } from '../traces/silence/silent-for.tsx'
import { useSilences } from '../traces/silence/use-silence.ts'
import { type ColumnName, columns } from './columns.tsx'
import type { FilterName } from './filters-in-url.ts'
import { Snippets } from './found/snippets.tsx'
import type { SessionOverview } from './queries.ts'
import classes from './sessions.module.css'
import { StatusMark } from './status-mark.tsx'
import { sessionName } from './words.ts'

interface SessionTableProps {
  /** Undefined until they are read. */
  sessions: readonly SessionOverview[] | undefined
  isStale: boolean
  shown: readonly ColumnName[]
  providerName: (id: string) => string
  selected: ReadonlySet<string>
  onSelect: (ids: ReadonlySet<string>) => void
  onFilter: (name: FilterName, value: string) => void
  /** The session that keys and clicks are at. Null when there is none. */
  active: string | null
  onActive: (id: string) => void
}

export function SessionTable({ sessions, isStale, shown, selected, onSelect, ...rest }: SessionTableProps) {
  const all = sessions !== undefined && sessions.length > 0 && sessions.every(({ id }) => selected.has(id))
  const silences = useSilences(sessions?.some(({ status }) => status === 'streaming'))
  const toggle = (id: string) => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    onSelect(next)
  }
  return (
    <div className={`${blocks.card} ${classes.list}`}>
      <Table
        className={`${blocks.table} ${classes.table}`}
        style={{ '--columns': widthOf(shown) }}
        aria-label="Sessions"
        aria-busy={isStale || !sessions}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th className={classes.check ?? ''}>
              <Checkbox
                size="xs"
                aria-label="Select all on this page"
                checked={all}
                indeterminate={!all && selected.size > 0}
                onChange={() => onSelect(new Set(all ? [] : sessions?.map(({ id }) => id)))}
              />
            </Table.Th>
            <Table.Th>Session</Table.Th>
            {columnsOf(shown).map(({ name, label, width }) => (
              <Table.Th key={name} w={width} data-column={name} data-minor={name !== 'status' || undefined}>
                {label}
              </Table.Th>
            ))}
            <Table.Th data-minor className={classes.actionColumn ?? ''}>
              <VisuallyHidden>Replay</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions?.map((session, place) => (
            <Row
              key={session.id}
              session={session}
              silence={silences.get(session.id)}
              shown={shown}
              isSelected={selected.has(session.id)}
              isStop={rest.active === null ? place === 0 : session.id === rest.active}
              onToggle={() => toggle(session.id)}
              {...rest}
            />
          ))}
          {sessions?.length === 0 && <Whole span={shown.length + 3}>No results</Whole>}
          {sessions === undefined && <AwaitedRows columns={shown.length + 3} />}
        </Table.Tbody>
      </Table>
    </div>
  )
}

const columnsOf = (shown: readonly ColumnName[]) => columns.filter(({ name }) => shown.includes(name))

/** Returns the width of everything beside the title. */
const widthOf = (shown: readonly ColumnName[]): string =>
  `calc(6rem + ${['0rem', ...columnsOf(shown).map(({ width }) => width)].join(' + ')})`

const Whole = ({ span, children }: { span: number; children: ReactNode }) => (
  <Table.Tr>
    <Table.Td colSpan={span} ta="center" c="dimmed" py="lg">
      {children}
    </Table.Td>
  </Table.Tr>
)

type RowProps = Pick<SessionTableProps, 'shown' | 'providerName' | 'onFilter' | 'active' | 'onActive'> & {
  session: SessionOverview
  silence: Silence | undefined
  isSelected: boolean
  /** True for the one row at which the tab key stops. */
  isStop: boolean
  onToggle: () => void
}

function Row({ session, silence, shown, isSelected, isStop, onToggle, active, onActive, ...cells }: RowProps) {
  const { id, agentId, agentName } = session
  const name = sessionName(session)
  const isActive = id === active
  const row = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (!isActive) return
    row.current?.scrollIntoView({ block: 'nearest' })
    // What has the focus among the rows goes along with the keys.
    if (row.current?.closest('tbody')?.contains(document.activeElement)) row.current.querySelector('a')?.focus()
  }, [isActive])
  return (
    <Table.Tr
      ref={row}
      data-selected={isSelected || undefined}
      aria-current={isActive || undefined}
      onClick={() => onActive(id)}
    >
      <Table.Td className={classes.check ?? ''} onClick={(event) => event.stopPropagation()}>
        {/* X does it: a row is one stop of the tab key. */}
        <Checkbox size="xs" tabIndex={-1} aria-label={`Select “${name}”`} checked={isSelected} onChange={onToggle} />
      </Table.Td>
      <Table.Td>
        <Link
          to={`/playground/${agentId}/${id}`}
          className={classes.name}
          tabIndex={isStop ? 0 : -1}
          title={name}
          dir="auto"
          viewTransition
          onClick={(event) => event.stopPropagation()}
        >
          {name}
        </Link>
        {session.archived && <span className={classes.archived}>archived</span>}
        {session.snippets && <Snippets agentId={agentId} sessionId={id} snippets={session.snippets} />}
        <span className={classes.narrowFacts}>
          {agentName} · <RelativeTime iso={session.updatedAt} />
        </span>
      </Table.Td>
      {shown.map((column) => (
        <Table.Td key={column} data-column={column} data-minor={column !== 'status' || undefined}>
          <Cell column={column} session={session} silence={silence} {...cells} />
        </Table.Td>
      ))}
      <Table.Td data-minor className={classes.actionColumn ?? ''}>
        <Tooltip label="What happened in its newest reply">
          <ActionIcon
            component={Link}
            to={`/replies/${id}`}
            size={22}
            tabIndex={-1}
            variant="subtle"
            color="gray"
            aria-label={`What happened in “${name}”`}
          >
            <IconTimeline size={15} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
      </Table.Td>
    </Table.Tr>
  )
}

type CellProps = Pick<SessionTableProps, 'providerName' | 'onFilter'> & {
  column: ColumnName
  session: SessionOverview
  silence: Silence | undefined
}

function Cell({ column, session, silence, providerName, onFilter }: CellProps) {
  const { status, errorCode, agentId, agentName, user, reply = null } = session
  const word = (value: string | null, name: FilterName, filter: string | null, label: string) =>
    value !== null &&
    filter !== null && <FilterWord value={value} label={label} onClick={() => onFilter(name, filter)} />
  switch (column) {
    case 'status':
      return (
        <>
          <StatusMark status={status} isShort={status === 'streaming'} />
          {status === 'streaming' &&
            (silence && silence.level !== 'short' ? (
              <SilentFor silence={silence} isShort />
            ) : (
              <RunningDuration since={session.updatedAt} />
            ))}
        </>
      )
    case 'error':
      return word(errorCode, 'errorCode', errorCode, 'Only this error code')
    case 'http': {
      const answered = reply?.httpStatus == null ? null : String(reply.httpStatus)
      return word(answered, 'httpStatus', answered, 'Only this HTTP status')
    }
    case 'agent':
      return word(agentName, 'agentId', agentId, 'Only this agent')
    case 'provider': {
      const id = reply?.providerId ?? null
      return word(id && providerName(id), 'providerId', id, 'Only this provider')
    }
    case 'model':
      return <span className={classes.value}>{reply?.model}</span>
    case 'user':
      return word(user, 'user', user, 'Only this user')
    case 'duration':
      return <span className={classes.value}>{reply?.durationMs == null ? null : duration(reply.durationMs)}</span>
    case 'tokens':
      return <span className={classes.value}>{reply?.tokens != null && wholeNumber(reply.tokens)}</span>
    case 'created':
      return <RelativeTime iso={session.createdAt} />
    default:
      return <RelativeTime iso={session.updatedAt} />
  }
}

/** A value that narrows the list to itself. */
const FilterWord = ({ value, label, onClick }: { value: string; label: string; onClick: () => void }) => (
  <button
    type="button"
    tabIndex={-1}
    className={classes.word}
    title={`${label}: ${value}`}
    onClick={(event) => {
      event.stopPropagation()
      onClick()
    }}
  >
    <bdi>{value}</bdi>
  </button>
)
