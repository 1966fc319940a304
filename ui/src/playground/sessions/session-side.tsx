/** The agent's sessions: search, new, delete, and older ones on scrolling down. */
import { ActionIcon, Button, Center, Loader, Select, Text, TextInput } from '@mantine/core'
import { useDebouncedValue, useInViewport } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconArchive, IconArchiveOff, IconPlus, IconRobot, IconSearch, IconTrash, IconUser } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { memo, useEffect, useState } from 'react'
import { Link, NavLink, useNavigate } from 'react-router'
import type { Agent } from '../../agents/resource.ts'
import { wordsOf } from '../../api.ts'
import { DeleteButton } from '../../blocks/delete-button.tsx'
import { tellUndoable } from '../../blocks/messages/undoable.tsx'
import { useFocusBeside } from '../../blocks/pages/focus-beside.ts'
import { RelativeTime } from '../../blocks/relative-time.tsx'
import { archiveSession, deleteSession, type Session, sessionList } from '../queries.ts'
import { FoundMessages } from './found-messages.tsx'
import classes from './session-side.module.css'
import { titleOf } from './title-of.ts'

interface SessionSideProps {
  agent: Agent
  agents: Agent[]
  sessionId: string | undefined
  /** A session was chosen, or a new one started. */
  onChosen?: () => void
}

export default function SessionSide({ agent, agents, sessionId, onChosen }: SessionSideProps) {
  const agentId = agent.id
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [user, setUser] = useState('')
  const [q] = useDebouncedValue(text.trim(), 200)
  const [ofUser] = useDebouncedValue(user.trim(), 200)
  const query = useInfiniteQuery({ ...sessionList(agentId, { q, user: ofUser }), placeholderData: keepPreviousData })
  // A session that moves up while pages are read is on two of them.
  const all = query.data?.pages.flatMap((page) => page.sessions) ?? []
  const sessions = [...new Map(all.map((session) => [session.id, session])).values()]
  return (
    <>
      <div className={classes.sideHead}>
        <Select
          aria-label="Agent"
          leftSection={<IconRobot size={17} stroke={1.7} aria-hidden />}
          data={byName(agents)}
          maxDropdownHeight={480}
          value={agentId}
          onChange={(id) => id !== null && navigate(`/playground/${id}`)}
          allowDeselect={false}
          searchable={agents.length > 8}
          nothingFoundMessage="No results"
        />
        <Button
          component={Link}
          to={`/playground/${agentId}`}
          variant="default"
          fullWidth
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={onChosen}
        >
          New session
        </Button>
        <TextInput
          type="search"
          aria-label="Search sessions"
          placeholder="Search sessions"
          leftSection={<IconSearch size={15} stroke={1.8} aria-hidden />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <TextInput
          type="search"
          aria-label="Filter by user ID"
          placeholder="Filter by user ID"
          leftSection={<IconUser size={15} stroke={1.8} aria-hidden />}
          value={user}
          onChange={(event) => setUser(event.currentTarget.value)}
        />
      </div>
      <nav className={classes.sessions} aria-label="Sessions">
        {query.isLoading && (
          <Center p="md">
            <Loader size="sm" role="img" aria-label="Loading" />
          </Center>
        )}
        {query.error && <Text className={classes.sideNote}>{wordsOf(query.error)}</Text>}
        {query.data && sessions.length === 0 && <Text className={classes.sideNote}>{nothingFound(q, ofUser)}</Text>}
        <ul>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} isOpen={session.id === sessionId} onChosen={onChosen} />
          ))}
        </ul>
        {q !== '' && <FoundMessages agentId={agentId} q={q} user={ofUser} onChosen={onChosen} />}
        {query.hasNextPage && (
          <More
            isBusy={query.isFetchingNextPage}
            hasFailed={query.isFetchNextPageError}
            onReached={() => void query.fetchNextPage()}
          />
        )}
      </nav>
    </>
  )
}

const byName = (agents: readonly Agent[]) =>
  agents
    .map(({ id, name }) => ({ value: id, label: name }))
    .toSorted((a, b) => a.label.localeCompare(b.label, 'en', { numeric: true }))

function nothingFound(q: string, user: string): string {
  if (user !== '') return q === '' ? 'This user has no sessions.' : 'No results'
  return q === '' ? 'No sessions yet: the first message creates one.' : 'No results'
}

interface SessionRowProps {
  session: Session
  isOpen: boolean
  onChosen: (() => void) | undefined
}

/** The list is read again every few seconds; a row is rendered again when its session has changed. */
const SessionRow = memo(({ session, isOpen, onChosen }: SessionRowProps) => {
  const { id, agentId, user, updatedAt, archived } = session
  const title = titleOf(session)
  const navigate = useNavigate()
  const archiving = useMutation({
    mutationFn: (isArchived: boolean) => archiveSession(session, isArchived),
    onError: (error) => notifications.show({ color: 'red', message: wordsOf(error) }),
    onSuccess: (_, isArchived) =>
      isArchived && tellUndoable(`Archived “${title}”.`, () => archiveSession(session, false)),
  })
  const row = useFocusBeside<HTMLLIElement>()
  const ArchiveIcon = archived ? IconArchiveOff : IconArchive
  return (
    <li className={classes.session} {...row}>
      <DeleteButton
        noun="session"
        name={title}
        remove={() => deleteSession(agentId, id)}
        onDeleted={() => {
          if (isOpen) void navigate(`/playground/${agentId}`, { replace: true })
        }}
        trigger={(ask) => (
          <>
            <NavLink
              to={`/playground/${agentId}/${id}`}
              onClick={onChosen}
              title={title}
              aria-keyshortcuts="Delete"
              onKeyDown={({ key }) => key === 'Delete' && ask()}
            >
              <span className={classes.sessionTitle} dir="auto">
                {title}
              </span>
              <span className={classes.sessionTime}>
                {user !== null && `${user} · `}
                <RelativeTime iso={updatedAt} />
                {archived && ' · archived'}
              </span>
            </NavLink>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`${archived ? 'Unarchive' : 'Archive'} the session “${title}”`}
              loading={archiving.isPending}
              onClick={() => archiving.mutate(!archived)}
            >
              <ArchiveIcon size={15} stroke={1.7} />
            </ActionIcon>
            <ActionIcon variant="subtle" color="gray" aria-label={`Delete the session “${title}”`} onClick={ask}>
              <IconTrash size={15} stroke={1.7} />
            </ActionIcon>
          </>
        )}
      >
        Its messages are deleted permanently, and a running reply is stopped.
      </DeleteButton>
    </li>
  )
})

interface MoreProps {
  isBusy: boolean
  /** True if the request was refused: only a click repeats it. */
  hasFailed: boolean
  onReached: () => void
}

function More({ isBusy, hasFailed, onReached }: MoreProps) {
  const { ref, inViewport } = useInViewport<HTMLButtonElement>()
  useEffect(() => {
    if (inViewport && !isBusy && !hasFailed) onReached()
  }, [inViewport, isBusy, hasFailed])
  return (
    <Button ref={ref} variant="subtle" color="gray" size="xs" fullWidth loading={isBusy} onClick={onReached}>
      Show older sessions
    </Button>
  )
}
