import { QueryClient, replaceEqualDeep } from '@tanstack/react-query'
import { ApiError, Unreachable } from './api.ts'
import { withUnchanged } from './with-unchanged.ts'

/** While the server says that it cannot answer at the moment: its database is away, say. */
const askAgainMs = 3_000

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal is final, but for 503. An unanswered query is repeated when the connection is back (shell/connection.ts).
      retry: (failures, error) => error instanceof Unreachable && failures < 3,
      refetchInterval: ({ state: { error } }) => error instanceof ApiError && error.status === 503 && askAgainMs,
      staleTime: 5_000,
      structuralSharing: withUnchanged(replaceEqualDeep),
    },
    // Fails at once when there is no answer: the form keeps what was typed.
    mutations: { retry: false, networkMode: 'always' },
  },
})
