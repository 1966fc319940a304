import { queryOptions } from '@tanstack/react-query'
import { ApiError, api } from '../api.ts'

// What the server wrote into the page (src/http/pages/ui.ts).
const isOpen = document.querySelector<HTMLMetaElement>('meta[name=login]')?.content === 'none'

/** The person and the role; the name is null where no login is required. Null: a login is required first. */
export const currentUser = queryOptions({
  queryKey: ['auth', 'me'],
  queryFn: ({ signal }) =>
    api.GET('/api/auth/me', { signal }).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }),
  ...(isOpen ? { initialData: { username: null, role: 'admin' as const, method: null } } : {}),
  staleTime: Number.POSITIVE_INFINITY,
})

/** The means to log in. */
export const loginMethods = queryOptions({
  queryKey: ['auth', 'status'],
  queryFn: ({ signal }) => api.GET('/api/auth/status', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Rejects with `ApiError` 401 or 429. */
export const login = (username: string, password: string) =>
  api.POST('/api/auth/login', { body: { username, password } })

/**
 * Logs out, at the identity provider too, and reloads the page: nothing of the former user stays in the window, drafts
 * included.
 */
export async function logout(): Promise<void> {
  const ended = await api.POST('/api/auth/logout')
  sessionStorage.clear()
  location.assign(ended?.logoutUrl ?? '/')
}
