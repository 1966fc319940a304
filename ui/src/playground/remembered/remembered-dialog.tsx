/** The decisions that are remembered for a session and its user; the one that the address names is marked. */

import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { writeExact } from '../../../../src/untrusted/exact-json.ts'
import { OpenedModal } from '../../blocks/late/opened-modal.tsx'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { WhenRead } from '../../blocks/messages/when-read.tsx'
import { RelativeTime } from '../../blocks/relative-time.tsx'
import type { Session } from '../queries.ts'
import { type Remembered, rememberedIn, revokeDecision } from './queries.ts'
import classes from './remembered.module.css'

interface RememberedDialogProps {
  session: Session
  /** The id of the decision to be shown. `all`: none is meant. */
  shown: string
  onClose: () => void
}

export default function RememberedDialog({ session, shown, onClose }: RememberedDialogProps) {
  const query = useQuery(rememberedIn(session))
  const revocation = useMutation({ mutationFn: (one: Remembered) => revokeDecision(session, one) })
  return (
    <OpenedModal onClose={onClose} title="Remembered decisions" size="lg">
      <Stack gap="md">
        <Text fz="sm" c="dimmed">
          Calls that one of these covers are settled at once. Revoked, it settles no further call.
        </Text>
        <ErrorAlert error={revocation.error} />
        <WhenRead query={query} awaited={null}>
          {(decisions) => (
            <>
              {shown !== 'all' && !decisions.some(({ id }) => id === shown) && (
                <Alert color="gray" role="status">
                  The decision that settled the call is not remembered here any more.
                </Alert>
              )}
              {decisions.length === 0 && <Text fz="sm">Nothing is remembered.</Text>}
              <ul className={classes.decisions} aria-label="Remembered decisions">
                {decisions.map((one) => (
                  <li key={one.id} aria-current={one.id === shown || undefined}>
                    <Words one={one} user={session.user} />
                    <Button
                      variant="default"
                      size="compact-xs"
                      aria-label={`Revoke the decision about ${one.name}`}
                      loading={revocation.isPending && revocation.variables.id === one.id}
                      onClick={() => revocation.mutate(one)}
                    >
                      Revoke
                    </Button>
                  </li>
                ))}
              </ul>
            </>
          )}
        </WhenRead>
      </Stack>
    </OpenedModal>
  )
}

const Words = ({ one, user }: { one: Remembered; user: string | null }) => (
  <div>
    <Text fz="sm">
      {one.decision === 'approve' ? 'Approves' : 'Rejects'} <code>{one.name}</code>{' '}
      {one.remember === 'session' ? 'in this session' : `for ${user ?? 'the user'}`}
      {one.reason === null ? '' : `: ${one.reason}`}
    </Text>
    {one.arguments !== null && <code className={classes.arguments}>{writeExact(one.arguments)}</code>}
    <Group gap={4} fz="xs" c="dimmed">
      {one.decidedBy !== null && `${one.decidedBy},`} <RelativeTime iso={one.createdAt} />
    </Group>
  </div>
)
