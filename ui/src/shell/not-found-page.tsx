import { Button } from '@mantine/core'
import { IconDoor } from '@tabler/icons-react'
import { Link } from 'react-router'
import { EmptyState } from '../blocks/empty-state.tsx'
import { Page } from '../blocks/page.tsx'

export function NotFoundPage() {
  return (
    <Page title="Not found">
      <EmptyState
        icon={IconDoor}
        title="There is nothing behind this door"
        action={
          <Button component={Link} to="/">
            To the start
          </Button>
        }
      >
        The address is wrong, or what was here is gone.
      </EmptyState>
    </Page>
  )
}
