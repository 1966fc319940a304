import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { wordsOf } from '../../api.ts'
import { useRefusal } from '../../login/roles.ts'
import { type SessionPlace, stopAll } from '../../sessions/queries.ts'
import type { Silence } from './silence.ts'

/** Stops a reply that is silent for long, beside the figure that says so. */
export function StopSilent({ silence, session }: { silence: Silence | null | undefined; session: SessionPlace }) {
  const refusal = useRefusal('change', '/sessions')
  const stopping = useMutation({
    mutationFn: () => stopAll([session]),
    onError: (error) => notifications.show({ color: 'red', message: wordsOf(error) }),
  })
  if (!silence || silence.level === 'short') return null
  return (
    <Button
      size="compact-xs"
      variant="default"
      ml={8}
      loading={stopping.isPending}
      disabled={refusal !== undefined || stopping.isSuccess}
      title={refusal}
      aria-label="Stop the silent reply"
      onClick={() => stopping.mutate()}
    >
      Stop
    </Button>
  )
}
