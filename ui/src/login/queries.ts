import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

/** `{authRequired, authenticated}` */
export const authStatus = queryOptions({
  queryKey: ['auth', 'status'],
  queryFn: ({ signal }) => api.GET('/api/auth/status', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** `{username}`; null where no login is required. */
export const currentUser = queryOptions({
  queryKey: ['auth', 'me'],
  queryFn: ({ signal }) => api.GET('/api/auth/me', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Rejects with `ApiError` 401 or 429. */
export const login = (username: string, password: string) =>
  api.POST('/api/auth/login', { body: { username, password } })

/** The page is reloaded: nothing of the former user stays in memory. */
export async function logout(): Promise<void> {
  await api.POST('/api/auth/logout')
  location.assign('/')
}
