/** The conversation's title, its agent, workbench and code. */
import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconCode,
  IconLayoutSidebarRight,
  IconMessages,
  IconSearch,
  IconShare2,
  IconSitemap,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router'
import type { Agent } from '../agents/resource.ts'
import { LateDrawer } from '../blocks/late/late-drawer.tsx'
import { oneSession } from '../sessions/queries.ts'
import { reliable } from '../shell/reliable-import.ts'
import { draftOf } from '../versions/draft.ts'
import { ActingAs } from './acting-as/acting-as.tsx'
import classes from './chat-header.module.css'
import { newestSessions, type Session } from './queries.ts'
import { SessionFacts } from './sessions/session-facts.tsx'
import { SessionTitle } from './sessions/session-title.tsx'
import { titleOf } from './sessions/title-of.ts'
import type { Fold } from './sessions/use-fold.ts'

const SessionSide = lazy(reliable(() => import('./sessions/session-side.tsx')))
const ShareDialog = lazy(reliable(() => import('./sharing/share-dialog.tsx')))
const CodeDialog = lazy(reliable(() => import('./code-dialog.tsx')))

interface ChatHeaderProps {
  agent: Agent
  agents: Agent[]
  sessionId: string | undefined
  /** The message that the shown code sends. */
  message: string
  side: { isOpen: boolean; toggle: () => void }
  /** The sessions beside the conversation; null where there is no room for them. */
  beside: Fold | null
  /** Opens the search within the session. */
  onFind: () => void
}

export function ChatHeader({ agent, agents, sessionId, message, side, beside, onFind }: ChatHeaderProps) {
  const [sessions, list] = useDisclosure()
  const [code, showing] = useDisclosure()
  const [isSharing, sharing] = useDisclosure()
  const { data: draft } = useQuery({ ...draftOf(agent.id), enabled: agent.hasDraft })
  const session = useSession(agent.id, sessionId)
  const title = sessionId === undefined ? 'Playground' : session ? titleOf(session) : 'Session'
  return (
    <header className={classes.head}>
      <title>{`${title} · Greenroom`}</title>
      <ActionIcon
        title={beside ? 'Sessions (])' : 'Sessions'}
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Sessions"
        aria-expanded={beside ? !beside.isFolded : sessions}
        onClick={beside ? beside.toggle : list.open}
      >
        <IconMessages size={19} stroke={1.7} />
      </ActionIcon>
      <div className={classes.heading}>
        <SessionTitle key={sessionId} title={title} session={session} />
        <Text className={classes.subtitle}>
          <Link to={`/agents/${agent.id}`}>{agent.name}</Link> · {draft?.agent.model ?? agent.model}
          {agent.hasDraft && ' · draft'}
          {session?.user != null && ` · ${session.user}`}
        </Text>
      </div>
      <Group gap={2} wrap="nowrap" data-testid="beside-title">
        <Action
          icon={IconLayoutSidebarRight}
          label="Workbench"
          active={agent.hasDraft}
          isExpanded={side.isOpen}
          onClick={side.toggle}
        />
        <Action icon={IconCode} label="Code" onClick={showing.open} />
        <ActionIcon
          title="Find in this session (Ctrl F)"
          variant="subtle"
          color="gray"
          size={34}
          aria-label="Find in this session"
          disabled={sessionId === undefined}
          onClick={onFind}
        >
          <IconSearch size={18} stroke={1.7} />
        </ActionIcon>
        <ActingAs agentId={agent.id} sessionId={sessionId} session={session} />
        <ActionIcon
          title="Share this session"
          variant="subtle"
          color="gray"
          size={34}
          aria-label="Share this session"
          disabled={session === undefined}
          onClick={sharing.open}
        >
          <IconShare2 size={18} stroke={1.7} />
        </ActionIcon>
        <SessionFacts session={session} />
        <ToChart address={sessionId === undefined ? null : `/chart?agent=${agent.id}&session=${sessionId}`} />
      </Group>
      <LateDrawer opened={sessions} onClose={list.close} title="Sessions" size={320} padding="sm">
        <Suspense>
          <SessionSide agent={agent} agents={agents} sessionId={sessionId} onChosen={list.close} />
        </Suspense>
      </LateDrawer>
      <Suspense>
        {isSharing && session && <ShareDialog session={session} onClose={sharing.close} />}
        {code && (
          <CodeDialog agent={agent} sessionId={sessionId} message={message || 'Hello!'} onClose={showing.close} />
        )}
      </Suspense>
    </header>
  )
}

/** Returns the session. The newest ones are polled; an older one, opened by its address, is read. */
function useSession(agentId: string, sessionId: string | undefined): Session | undefined {
  const newest = useQuery(newestSessions(agentId)).data?.sessions
  const listed = newest?.find(({ id }) => id === sessionId)
  const isOlder = sessionId !== undefined && newest !== undefined && listed === undefined
  const { data: older } = useQuery({ ...oneSession(agentId, sessionId ?? ''), enabled: isOlder })
  return listed ?? (isOlder ? older : undefined)
}

const chartLook = {
  variant: 'subtle',
  color: 'gray',
  size: 34,
  'aria-label': 'Watch live',
  children: <IconSitemap size={18} stroke={1.7} />,
} as const

/** `address` is null while there is no session. Its place is kept, so that nothing moves when one begins. */
const ToChart = ({ address }: { address: string | null }) =>
  address === null ? (
    <ActionIcon {...chartLook} disabled />
  ) : (
    <ActionIcon title="Watch live" component={Link} to={address} {...chartLook} />
  )

interface ActionProps {
  icon: typeof IconCode
  label: string
  active?: boolean
  /** Whether the panel that it opens is open. Absent for one that opens none. */
  isExpanded?: boolean
  onClick: () => void
}

/** The text is left out where there is no room. */
const Action = ({ icon: Icon, label, active = false, isExpanded, onClick }: ActionProps) => (
  <Button
    className={classes.action ?? ''}
    variant={active ? 'light' : 'subtle'}
    color="gray"
    px={8}
    leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
    aria-label={label}
    title={label}
    aria-expanded={isExpanded}
    onClick={onClick}
  >
    <span className={classes.label}>{label}</span>
  </Button>
)
