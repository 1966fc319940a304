/** The parameters of the page's address. */
import { useCallback, useMemo } from 'react'
import { type NavigateOptions, type Path, useLocation, useNavigate } from 'react-router'

type Parts = Pick<Path, 'search' | 'hash'>

/** In characters. Servers and proxies refuse addresses of 8,000 to 16,000. */
const MOST_SENT = 4_000

/**
 * Returns the address with the parameters. Long ones, such as the draft of a prompt, stand after the hash, which is not
 * sent to the server.
 */
export function addressOf(params: URLSearchParams): Parts {
  const text = params.toString()
  return text.length <= MOST_SENT ? { search: text, hash: '' } : { search: '', hash: text }
}

const holdsParams = (hash: string): boolean => hash.includes('=')

/** Returns the parameters of an address that `addressOf` made. */
export const paramsOf = ({ search, hash }: Parts): URLSearchParams =>
  new URLSearchParams(holdsParams(hash) ? hash.slice(1) : search)

/** Returns the anchor within the page; empty where parameters stand in its place. */
export const anchorOf = ({ hash }: Pick<Path, 'hash'>): string => (holdsParams(hash) ? '' : hash.slice(1))

/**
 * Returns the parameters, and a function that replaces them. The function is given the address of this moment: the
 * router's own one is given that of the last rendering, which may be older than the click before, so that a filter
 * which was just cleared came back with the next one.
 */
export function useSearchParams(): [
  URLSearchParams,
  (to: (now: URLSearchParams) => URLSearchParams, options?: NavigateOptions) => Promise<void>,
] {
  const { search, hash } = useLocation()
  const navigate = useNavigate()
  const params = useMemo(() => paramsOf({ search, hash }), [search, hash])
  const change = useCallback(
    async (to: (now: URLSearchParams) => URLSearchParams, options?: NavigateOptions) =>
      navigate(addressOf(to(paramsOf(window.location))), options),
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
