import { Button } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useRefusal } from '../login/roles.ts'
import { reliable } from '../shell/reliable-import.ts'
import type { Deletion } from './late/delete-dialog.tsx'

interface DeleteButtonProps extends Deletion {
  /** The element that opens the confirmation; by default a button that says "Delete". */
  trigger?: (ask: () => void) => ReactNode
}

/** A list has one in each row: the dialogs' code, and each dialog, are there once they are asked for. */
const DeleteDialog = lazy(reliable(() => import('./late/delete-dialog.tsx')))

/** Deletes after a confirmation, which names what is lost and shows the server's refusal. */
export function DeleteButton({ trigger, ...deletion }: DeleteButtonProps) {
  const [asked, setAsked] = useState(0)
  const ask = () => setAsked(asked + 1)
  const refusal = useRefusal('delete')
  return (
    <>
      {trigger?.(ask) ?? (
        <Button
          variant="default"
          leftSection={<IconTrash size={16} stroke={1.7} aria-hidden />}
          onClick={ask}
          disabled={refusal !== undefined}
          title={refusal}
        >
          Delete
        </Button>
      )}
      {asked > 0 && (
        <Suspense>
          <DeleteDialog asked={asked} {...deletion} />
        </Suspense>
      )}
    </>
  )
}
