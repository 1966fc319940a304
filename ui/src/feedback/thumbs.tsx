/** The opinion of the person at the playground of a reply: good, bad, or none. */
import { ActionIcon, Tooltip } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconThumbDown, IconThumbDownFilled, IconThumbUp, IconThumbUpFilled } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, wordsOf } from '../api.ts'
import { currentUser } from '../login/queries.ts'
import { messagesChanged } from '../playground/queries.ts'
import { type Given, isOwn } from './given.ts'

const path = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages/{message_id}/feedback'

interface ThumbsProps {
  agentId: string
  sessionId: string
  messageId: string
  feedback: readonly Given[]
}

const thumbs = [
  { score: 1, label: 'Good reply', icon: IconThumbUp, filled: IconThumbUpFilled },
  { score: -1, label: 'Bad reply', icon: IconThumbDown, filled: IconThumbDownFilled },
] as const

/** Pressed again, a thumb is taken back. */
export function Thumbs({ agentId, sessionId, messageId, feedback }: ThumbsProps) {
  const { data: user } = useQuery(currentUser)
  const own = feedback.find((one) => isOwn(one, user))?.score
  const giving = useMutation({
    async mutationFn(score: 1 | -1) {
      const params = { path: { agent_id: agentId, session_id: sessionId, message_id: messageId } }
      if (score === own) await api.DELETE(path, { params })
      else await api.PUT(path, { params, body: { score } })
    },
    onSettled: () => messagesChanged(agentId, sessionId),
    onError: (error) => notifications.show({ color: 'red', message: wordsOf(error) }),
  })
  return thumbs.map(({ score, label, icon, filled }) => {
    const Icon = own === score ? filled : icon
    return (
      <Tooltip key={score} label={label}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={label}
          aria-pressed={own === score}
          disabled={giving.isPending}
          onClick={() => giving.mutate(score)}
        >
          <Icon size={16} stroke={1.7} />
        </ActionIcon>
      </Tooltip>
    )
  })
}
