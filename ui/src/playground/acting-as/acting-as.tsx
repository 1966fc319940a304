/** The user of a session, to try prompts and tools with: it starts a session of a user, with metadata. */
import { ActionIcon, Button, Group, Loader, Popover, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconUserCog, IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import type { Session } from '../queries.ts'
import classes from './acting-as.module.css'
import { type MetadataRow, metadataOf, rowsOf, startSession } from './start-session.ts'

interface ActingAsProps {
  agentId: string
  sessionId: string | undefined
  /** The one that is open, whose values the panel begins with; undefined also until it is loaded. */
  session: Session | undefined
}

export function ActingAs({ agentId, sessionId, session }: ActingAsProps) {
  const [opened, { toggle, close }] = useDisclosure()
  return (
    <Popover opened={opened} onChange={(isOpen) => !isOpen && close()} width={380} withinPortal trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon
          title="User and metadata"
          variant="subtle"
          color="gray"
          size={34}
          aria-label="User and metadata"
          aria-expanded={opened}
          onClick={toggle}
        >
          <IconUserCog size={18} stroke={1.7} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="User and metadata">
        {session?.id === sessionId ? (
          <Panel key={sessionId} agentId={agentId} session={session} onStarted={close} />
        ) : (
          <Loader role="img" aria-label="Loading" size="sm" />
        )}
      </Popover.Dropdown>
    </Popover>
  )
}

interface PanelProps {
  agentId: string
  session: Session | undefined
  onStarted: () => void
}

function Panel({ agentId, session, onStarted }: PanelProps) {
  const [user, setUser] = useState(session?.user ?? '')
  const [rows, setRows] = useState<MetadataRow[]>(rowsOf(session?.metadata ?? {}))
  const navigate = useNavigate()
  const starting = useMutation({
    mutationFn: () => startSession(agentId, { user: user.trim() || null, metadata: metadataOf(rows) }),
    onSuccess(id) {
      onStarted()
      void navigate(`/playground/${agentId}/${id}`)
    },
  })
  const change = (at: number, part: Partial<MetadataRow>) =>
    setRows(rows.map((row, index) => (index === at ? { ...row, ...part } : row)))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        starting.mutate()
      }}
    >
      <Stack gap="sm">
        <Text fz="sm" c="dimmed">
          What prompts and tools name as session.user and session.metadata. A session keeps its values, so this starts a
          new one.
        </Text>
        <TextInput
          label="User"
          placeholder="Nobody"
          data-autofocus
          value={user}
          onChange={({ currentTarget }) => setUser(currentTarget.value)}
        />
        {rows.map(({ name, value }, index) => (
          <div key={index} className={classes.row}>
            <TextInput
              aria-label={`Name of metadata ${index + 1}`}
              placeholder="plan"
              value={name}
              onChange={({ currentTarget }) => change(index, { name: currentTarget.value })}
            />
            <TextInput
              aria-label={`Value of metadata ${index + 1}`}
              placeholder="gold"
              value={value}
              onChange={({ currentTarget }) => change(index, { value: currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={`Remove metadata ${name || index + 1}`}
              onClick={() => setRows(rows.filter((_, at) => at !== index))}
            >
              <IconX size={16} stroke={1.7} />
            </ActionIcon>
          </div>
        ))}
        <ErrorAlert error={starting.error} />
        <Group justify="space-between">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setRows([...rows, { name: '', value: '' }])}
          >
            Add metadata
          </Button>
          <Button type="submit" size="xs" loading={starting.isPending}>
            Start a session
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
