import { QueryClient } from '@tanstack/react-query'
import { Unreachable } from './api.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal is final. An unanswered query is repeated when the connection is back (shell/connection.ts).
      retry: (failures, error) => error instanceof Unreachable && failures < 3,
      staleTime: 5_000,
    },
    // Fails at once when there is no answer: the form keeps what was typed.
    mutations: { retry: false, networkMode: 'always' },
  },
})
