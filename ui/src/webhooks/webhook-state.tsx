import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { healthOf } from './health.ts'
import { deliveriesOf, type Webhook } from './resource.ts'

const colours = { good: 'var(--tone-good)', bad: 'var(--tone-bad)', none: 'dimmed' } as const

/** The state of a webhook in the list: whether its newest deliveries are received. */
export function WebhookState({ webhook: { id, enabled } }: { webhook: Webhook }) {
  const { data } = useQuery({ ...deliveriesOf(id, 0), enabled, refetchInterval: 30_000 })
  if (data === undefined && enabled) return 'Enabled'
  const { level, words, reason } = healthOf(data?.deliveries ?? [], enabled)
  return (
    <>
      <Text component="span" fz="sm" c={colours[level]} fw={level === 'bad' ? 500 : 400}>
        {words}
      </Text>
      {reason !== null && (
        <Text fz="xs" c="dimmed" truncate title={reason}>
          {reason}
        </Text>
      )}
    </>
  )
}
