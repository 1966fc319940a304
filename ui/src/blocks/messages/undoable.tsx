import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { wordsOf } from '../../api.ts'

/** Long enough to be read and answered. */
const SHOWN_MS = 30_000

/** Tells of a change that needs no question before it, since the button beside it takes it back. */
export function tellUndoable(message: string, undo: () => Promise<unknown>): void {
  const take = () => {
    notifications.hide(id)
    undo().then(
      () => notifications.show({ message: 'Undone.' }),
      (error: unknown) => notifications.show({ color: 'red', message: wordsOf(error) }),
    )
  }
  const id = notifications.show({
    autoClose: SHOWN_MS,
    message: (
      <Group justify="space-between" wrap="nowrap">
        {message}
        <Button size="compact-sm" variant="default" onClick={take}>
          Undo
        </Button>
      </Group>
    ),
  })
}
