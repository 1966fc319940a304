/** The parameters of the page's address. */
import { useCallback } from 'react'
import { type NavigateOptions, useSearchParams as useRenderedSearchParams } from 'react-router'

/**
 * The parameters, and a function that replaces them. The function is given the address of this moment: the router's own
 * one is given that of the last rendering, which may be older than the click before, so that a filter which was just
 * cleared came back with the next one.
 */
export function useSearchParams(): [
  URLSearchParams,
  (to: (now: URLSearchParams) => URLSearchParams, options?: NavigateOptions) => void,
] {
  const [search, setSearch] = useRenderedSearchParams()
  const change = useCallback(
    (to: (now: URLSearchParams) => URLSearchParams, options?: NavigateOptions) =>
      setSearch(to(new URLSearchParams(window.location.search)), options),
    [setSearch],
  )
  return [search, change]
}

/** The address's parameters with some changed; null removes one. */
export function withParams(before: URLSearchParams, changes: Readonly<Record<string, string | null>>): URLSearchParams {
  const after = new URLSearchParams(before)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) after.delete(name)
    else after.set(name, value)
  }
  return after
}
