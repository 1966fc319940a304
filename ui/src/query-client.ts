import { QueryClient } from '@tanstack/react-query'
import { Unreachable } from './api.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal stays one. What nobody answered is repeated when the connection is back (shell/connection.ts).
      retry: (failures, error) => error instanceof Unreachable && failures < 3,
      staleTime: 5_000,
    },
    // Answered at once when nobody is there: the form keeps what was typed.
    mutations: { retry: false, networkMode: 'always' },
  },
})
