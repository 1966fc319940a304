import { IconSitemap } from '@tabler/icons-react'
import { EmptyState } from '../blocks/empty-state.tsx'
import { Page } from '../blocks/page.tsx'

export function Component() {
  return (
    <Page title="State chart">
      <EmptyState icon={IconSitemap} title="Not here yet">
        This page is still being built. Until then the API reference at /docs shows what can be done.
      </EmptyState>
    </Page>
  )
}
