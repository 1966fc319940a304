/** The card of a call that waits until its user has signed in at an MCP server. */
import { Button, Group, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import type { Decision, PendingCall } from '../../queries.ts'

interface SignInProps {
  call: PendingCall
  onDecide: (choice: Omit<Decision, 'call_id'>) => void
}

/** The reply goes on by itself: nothing is decided here but that the user does not sign in. */
export const SignIn = ({ call: { server, message, url }, onDecide }: SignInProps) => (
  <>
    <Text fz="xs" c="dimmed">
      The MCP server “{server}” needs a sign-in:
    </Text>
    <Text style={{ overflowWrap: 'anywhere' }}>{message}</Text>
    <Group gap="sm">
      <Button
        component="a"
        size="sm"
        href={url ?? ''}
        target="_blank"
        rel="noopener noreferrer"
        rightSection={<IconExternalLink size={14} aria-label="opens a new window" />}
      >
        Sign in
      </Button>
      <Button size="sm" variant="default" onClick={() => onDecide({ decision: 'decline' })}>
        Decline
      </Button>
    </Group>
  </>
)
