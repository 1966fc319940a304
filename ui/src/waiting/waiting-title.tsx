import { useQuery } from '@tanstack/react-query'
import { waitingCount } from './queries.ts'

/** The window's title, with how many sessions wait: it is seen beside other windows. */
export function WaitingTitle() {
  const { data = 0 } = useQuery(waitingCount)
  return <title>{`${data > 0 ? `(${data}) ` : ''}Approvals · Greenroom`}</title>
}
