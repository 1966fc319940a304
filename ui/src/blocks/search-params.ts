/** The parameters of the page's address. */
import { useCallback, useMemo } from 'react'
import { type NavigateOptions, useLocation, useNavigate } from 'react-router'

/**
 * Returns the parameters, and a function that replaces them. The function is given the address of this moment: the
 * router's own one is given that of the last rendering, which may be older than the click before, so that a filter
 * which was just cleared came back with the next one.
 */
export function useSearchParams(): [
  URLSearchParams,
  (to: (now: URLSearchParams) => URLSearchParams, options?: NavigateOptions) => Promise<void>,
] {
  const { search } = useLocation()
  const navigate = useNavigate()
  const params = useMemo(() => new URLSearchParams(search), [search])
  const change = useCallback(
    async (to: (now: URLSearchParams) => URLSearchParams, options?: NavigateOptions) =>
      navigate({ search: to(new URLSearchParams(window.location.search)).toString() }, options),
    [navigate],
  )
  return [params, change]
}

/** Returns the address's parameters with some changed; null removes one. */
export function withParams(before: URLSearchParams, changes: Readonly<Record<string, string | null>>): URLSearchParams {
  const after = new URLSearchParams(before)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) after.delete(name)
    else after.set(name, value)
  }
  return after
}
