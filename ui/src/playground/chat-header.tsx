/** The conversation's title, its agent, overrides and code. */
import { ActionIcon, Button, Drawer, Group, Text, Title, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAdjustmentsHorizontal, IconCode, IconMessages, IconSitemap } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router'
import type { Agent } from '../agents/resource.ts'
import { oneSession } from '../sessions/queries.ts'
import { reliable } from '../shell/reliable-import.ts'
import classes from './chat-header.module.css'
import { useOverrides } from './overrides.ts'
import { newestSessions } from './queries.ts'
import { SessionSide, titleOf } from './session-side.tsx'

const OverridesDrawer = lazy(reliable(() => import('./overrides-drawer.tsx')))
const CodeDialog = lazy(reliable(() => import('./code-dialog.tsx')))

interface ChatHeaderProps {
  agent: Agent
  agents: Agent[]
  sessionId: string | undefined
  /** The message that the shown code sends. */
  message: string
}

export function ChatHeader({ agent, agents, sessionId, message }: ChatHeaderProps) {
  const [sessions, list] = useDisclosure()
  const [settings, overriding] = useDisclosure()
  const [code, showing] = useDisclosure()
  const { overrides } = useOverrides()
  const count = Object.keys(overrides).length
  const title = useTitle(agent.id, sessionId)
  return (
    <header className={classes.head}>
      <title>{`${title} · Greenroom`}</title>
      <Tooltip label="Sessions">
        <ActionIcon
          className={classes.narrow ?? ''}
          variant="subtle"
          color="gray"
          size="lg"
          aria-label="Sessions"
          onClick={list.open}
        >
          <IconMessages size={19} stroke={1.7} />
        </ActionIcon>
      </Tooltip>
      <div className={classes.heading}>
        <Title order={1} className={classes.title} title={title} dir="auto">
          {title}
        </Title>
        <Text className={classes.subtitle}>
          <Link to={`/agents/${agent.id}`}>{agent.name}</Link> · {overrides.model ?? agent.model}
        </Text>
      </div>
      <Group gap={4} wrap="nowrap">
        <Action
          icon={IconAdjustmentsHorizontal}
          label={count > 0 ? `Overrides (${count})` : 'Overrides'}
          active={count > 0}
          onClick={overriding.open}
        />
        <Action icon={IconCode} label="Code" onClick={showing.open} />
        {sessionId !== undefined && <ToChart address={`/chart?agent=${agent.id}&session=${sessionId}`} />}
      </Group>
      <Drawer opened={sessions} onClose={list.close} title="Sessions" size={320} padding="sm">
        <SessionSide agent={agent} agents={agents} sessionId={sessionId} onChosen={list.close} />
      </Drawer>
      <Suspense>
        {settings && <OverridesDrawer agent={agent} onClose={overriding.close} />}
        {code && (
          <CodeDialog
            agent={agent}
            sessionId={sessionId}
            message={message || 'Hello!'}
            overridden={count > 0}
            onClose={showing.close}
          />
        )}
      </Suspense>
    </header>
  )
}

/** Of a session that was opened by its address too: the newest ones are polled, an older one is read. */
function useTitle(agentId: string, sessionId: string | undefined): string {
  const newest = useQuery(newestSessions(agentId))
  const listed = newest.data?.sessions.find(({ id }) => id === sessionId)
  const isOlder = sessionId !== undefined && newest.data !== undefined && listed === undefined
  const { data: older } = useQuery({ ...oneSession(agentId, sessionId ?? ''), enabled: isOlder })
  if (sessionId === undefined) return 'Playground'
  const session = listed ?? older
  return session ? titleOf(session) : 'Session'
}

const ToChart = ({ address }: { address: string }) => (
  <Tooltip label="Watch in the state chart">
    <ActionIcon
      component={Link}
      to={address}
      variant="subtle"
      color="gray"
      size={36}
      aria-label="Watch in the state chart"
    >
      <IconSitemap size={18} stroke={1.7} />
    </ActionIcon>
  </Tooltip>
)

interface ActionProps {
  icon: typeof IconCode
  label: string
  active?: boolean
  onClick: () => void
}

/** Without its text where there is no room. */
const Action = ({ icon: Icon, label, active = false, onClick }: ActionProps) => (
  <Button
    className={classes.action ?? ''}
    variant={active ? 'light' : 'subtle'}
    color={active ? 'accent' : 'gray'}
    px={10}
    leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
    aria-label={label}
    onClick={onClick}
  >
    <span className={classes.label}>{label}</span>
  </Button>
)
