/** The messages that wait for the reply, next one first, each with a cross that takes it out of the queue. */
import { ActionIcon, Tooltip } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconClock, IconX } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ApiError, wordsOf } from '../../api.ts'
import { queueChanged, queueList, removeQueued } from './queue.ts'
import classes from './queued-messages.module.css'

interface QueuedMessagesProps {
  agentId: string
  sessionId: string
  /** A reply runs: what waits changes. */
  isRunning: boolean
  /** The button that had the keyboard's focus is gone. */
  onRemoved: () => void
}

export function QueuedMessages({ agentId, sessionId, isRunning, onRemoved }: QueuedMessagesProps) {
  const { data } = useQuery(queueList(agentId, sessionId, isRunning))
  const remove = useMutation({
    mutationFn: (id: string) => removeQueued(agentId, sessionId, id),
    // A message that has begun meanwhile is in the conversation.
    onError: (error) => !hasBegun(error) && notifications.show({ color: 'red', message: wordsOf(error) }),
    onSettled: () => queueChanged(agentId, sessionId).then(onRemoved),
  })
  if (data === undefined || data.queue.length === 0) return null
  return (
    <ol className={classes.queue} aria-label="Queued messages">
      {data.queue.map(({ id, content }) => (
        <li key={id}>
          <IconClock size={14} stroke={1.8} aria-hidden />
          <span dir="auto" title={content}>
            {content || 'Attachments'}
          </span>
          <Tooltip label="Take back">
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              aria-label={`Take back: ${content || 'attachments'}`}
              onClick={() => remove.mutate(id)}
              disabled={remove.isPending}
            >
              <IconX size={14} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </li>
      ))}
    </ol>
  )
}

const hasBegun = (error: unknown): boolean => error instanceof ApiError && error.status === 404
