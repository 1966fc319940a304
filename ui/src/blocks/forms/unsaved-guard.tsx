import { Button, Group, Modal, Text } from '@mantine/core'
import { useBlocker } from 'react-router'
import { useUnloadGuard } from './unload-guard.ts'

/** Given to `navigate` after saving, it lets the guard pass. */
export const saved = { state: { saved: true } }

/** Asks before unsaved work is left, by a link or by closing the window. */
export function UnsavedGuard({ dirty }: { dirty: boolean }) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      dirty && currentLocation.pathname !== nextLocation.pathname && nextLocation.state?.saved !== true,
  )
  useUnloadGuard(dirty)
  const stay = () => blocker.reset?.()
  return (
    <Modal opened={blocker.state === 'blocked'} onClose={stay} title="Leave without saving?">
      <Text mb="lg">Your changes on this page have not been saved.</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={() => blocker.proceed?.()}>
          Leave
        </Button>
        <Button onClick={stay} data-autofocus>
          Keep editing
        </Button>
      </Group>
    </Modal>
  )
}
