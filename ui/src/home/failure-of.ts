/** Why a session's newest reply failed. */
import { queryOptions } from '@tanstack/react-query'
import { messageList } from '../playground/queries.ts'
import type { SessionOverview } from '../sessions/queries.ts'

interface Failure {
  /** Null where no provider was asked. */
  providerId: string | null
  /** The HTTP status that the provider answered. Null where it answered none. */
  status: number | null
}

/** As the server stores it: in a sentence, or with the request before it. */
const answered = /^(?:The provider|[A-Z]+ \S+) answered (\d{3})\b/

/** Read once: a later failure is another time of the session's. */
export const failureOf = ({ id, agentId, updatedAt }: SessionOverview) =>
  queryOptions({
    queryKey: ['failure', id, updatedAt],
    queryFn: async ({ client }): Promise<Failure> => {
      const { path } = await client.fetchQuery(messageList(agentId, id))
      const reply = path.findLast(({ role }) => role === 'assistant')
      const status = answered.exec(reply?.error?.message ?? '')?.[1]
      return { providerId: reply?.providerId ?? null, status: status === undefined ? null : Number(status) }
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
