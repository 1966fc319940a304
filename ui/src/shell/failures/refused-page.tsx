import { IconLock } from '@tabler/icons-react'
import { EmptyState } from '../../blocks/messages/empty-state.tsx'
import { Page } from '../../blocks/pages/page.tsx'

/** Shown at the address of a page that the person's role does not open. `reason` names the role that does. */
export function RefusedPage({ reason }: { reason: string }) {
  return (
    <Page title="Not open to you">
      <EmptyState icon={IconLock} title={reason} leadTo={{ path: '/', label: 'Go to the home page' }}>
        An administrator can give you that role.
      </EmptyState>
    </Page>
  )
}
