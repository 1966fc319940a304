import { IconDoor } from '@tabler/icons-react'
import { EmptyState } from '../blocks/empty-state.tsx'
import { Page } from '../blocks/page.tsx'

export function NotFoundPage() {
  return (
    <Page title="Not found">
      <EmptyState
        icon={IconDoor}
        title="There is nothing behind this door"
        leadTo={{ path: '/', label: 'To the start' }}
      >
        The address is wrong, or what was here is gone.
      </EmptyState>
    </Page>
  )
}
