import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { ErrorAlert } from '../messages/error-alert.tsx'

export interface Deletion {
  /** "prompt" */
  noun: string
  name: string
  /** The consequences of the deletion, in a sentence or two. */
  children: ReactNode
  remove: () => Promise<unknown>
  /** Called after the deletion, to leave its page. */
  onDeleted: () => void
  /** The reason why it cannot be deleted. Null or absent if it can. */
  kept?: string | null
}

interface DeleteDialogProps extends Deletion {
  /** The number of times the dialog was requested: it opens each time. */
  asked: number
}

export default function DeleteDialog(props: DeleteDialogProps) {
  const { noun, name, children, remove, onDeleted, kept = null, asked } = props
  // It is there closed first, and opens then: so it gives the focus back to what opened it.
  const [opened, { open, close }] = useDisclosure()
  const { reset, ...deletion } = useMutation({
    mutationFn: remove,
    onSuccess() {
      close()
      notifications.show({ message: `Deleted the ${noun} “${name}”.` })
      onDeleted()
    },
  })
  useEffect(() => {
    reset()
    open()
  }, [asked, open, reset])
  return (
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
  )
}
