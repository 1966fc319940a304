import { Button } from '@mantine/core'
import { IconMessageCircle } from '@tabler/icons-react'
import { Link } from 'react-router'
import { type ChosenSession, playgroundOf } from './session-in-url.ts'

export const OpenInPlayground = ({ session }: { session: ChosenSession }) => (
  <Button
    component={Link}
    to={playgroundOf(session)}
    variant="default"
    size="xs"
    leftSection={<IconMessageCircle size={15} stroke={1.7} aria-hidden />}
  >
    Open in playground
  </Button>
)
