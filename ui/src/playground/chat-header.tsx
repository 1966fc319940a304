/** The conversation's title, whom one talks to, and what can be set and taken away. */
import { ActionIcon, Button, Drawer, Group, Select, Title, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAdjustmentsHorizontal, IconCode, IconMessages, IconSitemap } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Link, useNavigate } from 'react-router'
import type { Agent } from '../agents/queries.ts'
import { useOverrides } from './overrides.ts'
import classes from './playground.module.css'
import { newestSessions } from './queries.ts'
import { SessionSide, titleOf } from './session-side.tsx'

const OverridesDrawer = lazy(() => import('./overrides-drawer.tsx'))
const CodeDialog = lazy(() => import('./code-dialog.tsx'))

interface ChatHeaderProps {
  agent: Agent
  agents: Agent[]
  sessionId: string | undefined
  /** What the code shown shall send. */
  message: string
}

export function ChatHeader({ agent, agents, sessionId, message }: ChatHeaderProps) {
  const navigate = useNavigate()
  const [sessions, list] = useDisclosure()
  const [settings, overriding] = useDisclosure()
  const [code, showing] = useDisclosure()
  const { overrides } = useOverrides()
  const count = Object.keys(overrides).length
  const session = useQuery(newestSessions(agent.id)).data?.sessions.find(({ id }) => id === sessionId)
  const title = sessionId === undefined ? 'Playground' : session ? titleOf(session) : 'Session'
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
      <Title order={1} className={classes.title} title={title}>
        {title}
      </Title>
      <Group gap={6} wrap="nowrap" className={classes.headActions}>
        <Select
          aria-label="Agent"
          className={classes.agent ?? ''}
          data={agents.map(({ id, name }) => ({ value: id, label: name }))}
          value={agent.id}
          onChange={(id) => id !== null && navigate(`/playground/${id}`)}
          allowDeselect={false}
          searchable={agents.length > 8}
          nothingFoundMessage="No agent has this name."
        />
        <Button
          variant={count > 0 ? 'light' : 'default'}
          leftSection={<IconAdjustmentsHorizontal size={17} stroke={1.7} aria-hidden />}
          onClick={overriding.open}
          aria-label={count > 0 ? `Overrides (${count})` : 'Overrides'}
        >
          <span className={classes.label}>Overrides{count > 0 && ` (${count})`}</span>
        </Button>
        <Button
          variant="default"
          leftSection={<IconCode size={17} stroke={1.7} aria-hidden />}
          aria-label="Code"
          onClick={showing.open}
        >
          <span className={classes.label}>Code</span>
        </Button>
        {sessionId !== undefined && (
          <Tooltip label="Watch in the state chart">
            <ActionIcon
              component={Link}
              to={`/chart?agent=${agent.id}&session=${sessionId}`}
              variant="default"
              size={36}
              aria-label="Watch in the state chart"
            >
              <IconSitemap size={17} stroke={1.7} />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
      <Drawer opened={sessions} onClose={list.close} title="Sessions" size={320} padding="sm">
        <SessionSide agentId={agent.id} sessionId={sessionId} onChosen={list.close} />
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
