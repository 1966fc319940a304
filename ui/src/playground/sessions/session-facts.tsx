/** The user of a session, the metadata that its caller has stored, and the decisions that are remembered. */
import { ActionIcon, Button, Group, Popover, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconInfoCircle } from '@tabler/icons-react'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router'
import { Copy } from '../../blocks/copy.tsx'
import { useSearchParams, withParams } from '../../blocks/search-params.ts'
import { reliable } from '../../shell/reliable-import.ts'
import type { Session } from '../queries.ts'
import { decisionParam } from '../remembered/queries.ts'
import classes from './session-facts.module.css'

const RememberedDialog = lazy(reliable(() => import('../remembered/remembered-dialog.tsx')))

/** `session` is undefined while there is none. Its place is kept, so that nothing moves when one begins. */
export function SessionFacts({ session }: { session: Session | undefined }) {
  const [opened, { toggle, close }] = useDisclosure()
  const [search, setSearch] = useSearchParams()
  const decision = search.get(decisionParam)
  const show = (shown: string | null) => {
    close()
    void setSearch((now) => withParams(now, { [decisionParam]: shown }), { replace: true })
  }
  return (
    <>
      <Popover opened={opened} onChange={(isOpen) => !isOpen && close()} width={340} withinPortal trapFocus returnFocus>
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
        <Popover.Dropdown aria-label="About this session">
          {session && (
            <>
              <Facts session={session} />
              <Group mt="sm" gap="xs">
                <Button size="compact-sm" variant="default" onClick={() => show('all')}>
                  Remembered decisions
                </Button>
                {session.user !== null && (
                  <Button
                    component={Link}
                    to={`/connections?user=${encodeURIComponent(session.user)}`}
                    size="compact-sm"
                    variant="default"
                  >
                    Connections of the user
                  </Button>
                )}
              </Group>
            </>
          )}
        </Popover.Dropdown>
      </Popover>
      {session && decision !== null && (
        <Suspense>
          <RememberedDialog session={session} shown={decision} onClose={() => show(null)} />
        </Suspense>
      )}
    </>
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
