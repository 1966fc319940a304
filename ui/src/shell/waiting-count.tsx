/** The number of waiting sessions in the menu. */
import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { waitingCount } from '../waiting/queries.ts'

export function WaitingCount() {
  const { data = 0 } = useQuery(waitingCount)
  return data === 0 ? null : (
    <Badge size="sm" variant="light" color="gray" aria-label={`${data} waiting`}>
      {data}
    </Badge>
  )
}
