/** Stops or deletes the selected sessions. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconArchive, IconHandStop, IconPlayerStop, IconTrash } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { tellUndoable } from '../blocks/messages/undoable.tsx'
import { usePageKeys } from '../blocks/pages/page-keys.ts'
import { plural, wholeNumber } from '../blocks/words.ts'
import { archiveAll, deleteAll, rejectAll, type SessionOverview, stopAll } from './queries.ts'
import classes from './sessions.module.css'

interface BulkActionsProps {
  selected: readonly SessionOverview[]
  onDone: () => void
}

interface Archiving {
  sessions: readonly SessionOverview[]
  archived: boolean
}

export function BulkActions({ selected, onDone }: BulkActionsProps) {
  // The selection of the moment of the question: the list below changes meanwhile.
  const [asked, setAsked] = useState<readonly SessionOverview[] | null>(null)
  const running = selected.filter(({ status }) => status === 'streaming')
  const waiting = selected.filter(({ status }) => status === 'waiting')
  const stop = useMutation({
    mutationFn: stopAll,
    onSuccess: (_, stopped) =>
      notifications.show({ message: `Stopped ${plural(stopped.length, 'reply', 'replies')}.` }),
  })
  const rejection = useMutation({
    mutationFn: rejectAll,
    onSuccess: (_, rejected) =>
      notifications.show({ message: `Rejected what ${plural(rejected.length, 'session')} waited for.` }),
  })
  const isArchived = selected.length > 0 && selected.every(({ archived }) => archived)
  const archiving = useMutation({
    mutationFn: ({ sessions, archived }: Archiving) => archiveAll(sessions, archived),
    onSuccess(_, { sessions, archived }) {
      if (archived) tellUndoable(`Archived ${plural(sessions.length, 'session')}.`, () => archiveAll(sessions, false))
      onDone()
    },
  })
  const deletion = useMutation({
    mutationFn: deleteAll,
    onSuccess(_, deleted) {
      notifications.show({ message: `Deleted ${plural(deleted.length, 'session')}.` })
      setAsked(null)
      onDone()
    },
  })
  usePageKeys([['Delete', () => selected.length > 0 && setAsked(selected)]])
  return (
    <>
      {selected.length > 0 && (
        <Group className={classes.bulk ?? ''} gap="xs" role="group" aria-label="Selected sessions">
          <Text fz="sm" fw={500}>
            {wholeNumber(selected.length)} selected
          </Text>
          <Button
            variant="default"
            size="xs"
            disabled={running.length === 0}
            loading={stop.isPending}
            leftSection={<IconPlayerStop size={15} stroke={1.7} aria-hidden />}
            onClick={() => stop.mutate(running)}
          >
            {running.length === 0 ? 'Stop' : `Stop ${running.length} running`}
          </Button>
          {waiting.length > 0 && (
            <Button
              variant="default"
              size="xs"
              loading={rejection.isPending}
              leftSection={<IconHandStop size={15} stroke={1.7} aria-hidden />}
              onClick={() => rejection.mutate(waiting)}
            >
              Reject what waits ({waiting.length})
            </Button>
          )}
          <Button
            variant="default"
            size="xs"
            loading={archiving.isPending}
            leftSection={<IconArchive size={15} stroke={1.7} aria-hidden />}
            onClick={() =>
              archiving.mutate({
                sessions: selected.filter(({ archived }) => archived === isArchived),
                archived: !isArchived,
              })
            }
          >
            {isArchived ? 'Unarchive' : 'Archive'}
          </Button>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconTrash size={15} stroke={1.7} aria-hidden />}
            onClick={() => setAsked(selected)}
          >
            Delete
          </Button>
          <Button variant="subtle" color="gray" size="xs" onClick={onDone}>
            Clear selection
          </Button>
        </Group>
      )}
      <ErrorAlert error={stop.error ?? rejection.error ?? archiving.error} mb="md" />
      <Modal
        opened={asked !== null}
        onClose={() => setAsked(null)}
        title={`Delete ${plural(asked?.length ?? 0, 'session')}?`}
      >
        <Stack>
          <Text>Their messages are deleted permanently, and running replies are stopped.</Text>
          <ErrorAlert error={deletion.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsked(null)} data-autofocus>
              Cancel
            </Button>
            <Button color="red.8" loading={deletion.isPending} onClick={() => asked && deletion.mutate(asked)}>
              Delete
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
