import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { nearestLimit } from './nearest-limit.ts'
import { type Key, keyUse } from './resource.ts'

/** The nearest limit of a key in the list: amber from 80 % on, red once it is reached. */
export function KeyLimit({ of: { id, limits } }: { of: Key }) {
  const { data: use } = useQuery({ ...keyUse(id), enabled: limits !== null })
  if (limits === null) return 'None'
  const nearest = use && nearestLimit(limits, use)
  if (!nearest) return '…'
  const { share, name } = nearest
  const colour = share >= 1 ? 'var(--tone-bad)' : share >= 0.8 ? 'var(--tone-stopped)' : 'inherit'
  return (
    <Text component="span" fz="sm" c={colour} title={`${Math.floor(share * 100)} % of ${name}`}>
      {Math.floor(share * 100)} % of {name}
    </Text>
  )
}
