import { lazy, Suspense, useState } from 'react'
import { reliable } from '../../shell/reliable-import.ts'
import type { NewProviderDialogProps } from './new-provider-dialog.tsx'

const NewProviderDialog = lazy(reliable(() => import('./new-provider-dialog.tsx')))

/** The dialog for a new provider, whose code comes when it is opened for the first time. */
export function ProviderDialog(props: NewProviderDialogProps) {
  const [wasOpened, setWasOpened] = useState(false)
  if (props.opened && !wasOpened) setWasOpened(true)
  return (
    wasOpened && (
      <Suspense>
        <NewProviderDialog {...props} />
      </Suspense>
    )
  )
}
