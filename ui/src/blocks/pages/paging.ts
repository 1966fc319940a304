/** Lists: their state in the URL, and the type of their pages. */
import { useSearchParams, withParams } from '../search-params.ts'

export interface PageParams {
  limit: number
  offset: number
  /** A part of the name. */
  q?: string
}
export interface PageOf<Item> {
  items: Item[]
  total: number
}

const defaultLimit = 20
const wholeNumber = (text: string | null, fallback: number): number =>
  text !== null && /^\d{1,9}$/.test(text) ? Number(text) : fallback

/**
 * Returns the paging in the address, `?q=&limit=&offset=`. A new search begins at the first page, and adds no entry to
 * the history.
 */
export function usePaging() {
  const [search, setSearch] = useSearchParams()
  const q = search.get('q') ?? ''
  const params: PageParams = {
    limit: Math.min(Math.max(wholeNumber(search.get('limit'), defaultLimit), 1), 100),
    offset: wholeNumber(search.get('offset'), 0),
    ...(q !== '' && { q }),
  }
  return {
    params,
    /** The address names a limit. */
    isLimited: search.has('limit'),
    q,
    setQ: (text: string) =>
      setSearch((before) => withParams(before, { q: text || null, offset: null }), { replace: true }),
    setOffset: (to: number) => setSearch((before) => withParams(before, { offset: to === 0 ? null : String(to) })),
  }
}
