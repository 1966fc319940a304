/** The feedback on a reply that its thumbs do not say: that of others, and comments. */
import { Text } from '@mantine/core'
import { IconThumbDown, IconThumbUp } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { currentUser } from '../login/queries.ts'
import { type Given, isOwn } from './given.ts'

export function Opinions({ feedback }: { feedback: readonly Given[] }) {
  const { data: user } = useQuery(currentUser)
  const shown = feedback.filter((one) => one.comment !== null || !isOwn(one, user))
  return shown.map(({ by, name, score, comment }) => {
    const Icon = score === 1 ? IconThumbUp : IconThumbDown
    return (
      <Text key={`${by} ${name}`} component="div" fz="xs" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
        <Icon size={14} stroke={1.7} style={{ verticalAlign: 'text-bottom' }} aria-hidden />{' '}
        {score === 1 ? 'Good reply' : 'Bad reply'} · {by === 'user' ? 'user ' : ''}
        <bdi>{name ?? (by === 'user' ? '' : 'at the playground')}</bdi>
        {comment !== null && <bdi>: “{comment}”</bdi>}
      </Text>
    )
  })
}
