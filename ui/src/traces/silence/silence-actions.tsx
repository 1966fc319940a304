/** The ways on from a reply that is silent for long, beside the figure that says so. */
import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { agentResource } from '../../agents/resource.ts'
import { wordsOf } from '../../api.ts'
import { useRefusal } from '../../login/roles.ts'
import { type SessionPlace, stopAll } from '../../sessions/queries.ts'
import { askFallback } from './ask-fallback.ts'
import type { Silence } from './silence.ts'

interface SilenceActionsProps {
  silence: Silence | null | undefined
  session: SessionPlace
  /** Called with the id of the reply that the fallback gives. */
  onAsked?: (replyId: string) => void
}

export function SilenceActions({ silence, session, onAsked }: SilenceActionsProps) {
  const isLong = silence != null && silence.level !== 'short'
  const refusal = useRefusal('change', '/sessions')
  const { data: agent } = useQuery({ ...agentResource.one(session.agentId), enabled: isLong })
  const [fallback] = agent?.fallbacks ?? []
  const onError = (error: unknown) => notifications.show({ color: 'red', message: wordsOf(error) })
  const stopping = useMutation({ mutationFn: () => stopAll([session]), onError })
  const asking = useMutation({
    mutationFn: askFallback,
    onSuccess: (replyId) => replyId !== null && onAsked?.(replyId),
    onError,
  })
  if (!isLong) return null
  const isDone = stopping.isSuccess || asking.isSuccess
  const shared = { size: 'compact-xs', variant: 'default', disabled: refusal !== undefined || isDone } as const
  return (
    <>
      <Button
        {...shared}
        loading={stopping.isPending}
        title={refusal}
        aria-label="Stop the silent reply"
        onClick={() => stopping.mutate()}
      >
        Stop
      </Button>
      {fallback && (
        <Button
          {...shared}
          loading={asking.isPending}
          title={refusal ?? `Stops this reply, and asks ${fallback.model} for another in its place.`}
          onClick={() => asking.mutate({ session, fallback })}
        >
          Try the fallback
        </Button>
      )}
    </>
  )
}
