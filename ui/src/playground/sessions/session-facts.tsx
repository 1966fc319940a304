/** The user of a session, and the metadata that its caller has stored. */
import { ActionIcon, Popover, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconInfoCircle } from '@tabler/icons-react'
import { Copy } from '../../blocks/copy.tsx'
import type { Session } from '../queries.ts'
import classes from './session-facts.module.css'

/** `session` is undefined while there is none. Its place is kept, so that nothing moves when one begins. */
export function SessionFacts({ session }: { session: Session | undefined }) {
  const [opened, { toggle, close }] = useDisclosure()
  return (
    <Popover opened={opened} onChange={(isOpen) => !isOpen && close()} width={340} withinPortal trapFocus>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={34}
          aria-label="About this session"
          title="About this session"
          disabled={session === undefined}
          onClick={toggle}
        >
          <IconInfoCircle size={18} stroke={1.7} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="About this session">{session && <Facts session={session} />}</Popover.Dropdown>
    </Popover>
  )
}

function Facts({ session: { id, user, metadata } }: { session: Session }) {
  const notes = Object.entries(metadata)
  return (
    <>
      <dl className={classes.facts}>
        <dt>User</dt>
        <dd>{user ?? 'None'}</dd>
        {notes.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <dt>Session id</dt>
        <dd>
          {id} <Copy text={id} label="Copy the session id" />
        </dd>
      </dl>
      {notes.length === 0 && (
        <Text fz="xs" c="dimmed" mt={8}>
          No metadata.
        </Text>
      )}
    </>
  )
}
