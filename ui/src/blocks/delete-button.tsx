import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconTrash } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorAlert } from './messages/error-alert.tsx'

interface DeleteButtonProps {
  /** "prompt" */
  noun: string
  name: string
  /** What will be lost with it, in a sentence or two. */
  children: ReactNode
  remove: () => Promise<unknown>
  /** Called after the deletion, to leave its page. */
  onDeleted: () => void
  /** Why it cannot be deleted. Null or absent where it can. */
  kept?: string | null
  /** What opens the confirmation; a button that says "Delete" where it is left out. */
  trigger?: (ask: () => void) => ReactNode
}

/** Deletes after a confirmation, which names what is lost and shows the server's refusal. */
export function DeleteButton({ noun, name, children, remove, onDeleted, kept = null, trigger }: DeleteButtonProps) {
  const [opened, { open, close }] = useDisclosure()
  const deletion = useMutation({
    mutationFn: remove,
    onSuccess() {
      close()
      notifications.show({ message: `Deleted the ${noun} “${name}”.` })
      onDeleted()
    },
  })
  const ask = () => {
    deletion.reset()
    open()
  }
  return (
    <>
      {trigger?.(ask) ?? (
        <Button variant="default" leftSection={<IconTrash size={16} stroke={1.7} aria-hidden />} onClick={ask}>
          Delete
        </Button>
      )}
      <Modal
        opened={opened}
        onClose={close}
        title={kept === null ? `Delete the ${noun} “${name}”?` : `The ${noun} “${name}” is in use`}
      >
        <Stack>
          <Text>{kept ?? children}</Text>
          <ErrorAlert error={deletion.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              {kept === null ? 'Cancel' : 'Close'}
            </Button>
            {kept === null && (
              <Button color="red.8" loading={deletion.isPending} onClick={() => deletion.mutate()}>
                Delete
              </Button>
            )}
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
