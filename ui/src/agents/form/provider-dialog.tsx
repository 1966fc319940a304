import { lazy, Suspense } from 'react'
import { reliable } from '../../shell/reliable-import.ts'
import type { NewProviderDialogProps } from './new-provider-dialog.tsx'

const NewProviderDialog = lazy(reliable(() => import('./new-provider-dialog.tsx')))

/** The dialog for a new provider, whose code comes when it is opened for the first time. */
export const ProviderDialog = ({ opened, ...props }: NewProviderDialogProps & { opened: boolean }) =>
  opened && (
    <Suspense>
      <NewProviderDialog {...props} />
    </Suspense>
  )
