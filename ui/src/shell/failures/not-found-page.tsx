import { IconDoor } from '@tabler/icons-react'
import { EmptyState } from '../../blocks/messages/empty-state.tsx'
import { Page } from '../../blocks/pages/page.tsx'

export function NotFoundPage() {
  return (
    <Page title="Not found">
      <EmptyState icon={IconDoor} title="There is no such page" leadTo={{ path: '/', label: 'Go to the home page' }}>
        The address is wrong, or what was here has been deleted.
      </EmptyState>
    </Page>
  )
}
