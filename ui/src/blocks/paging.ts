/** Lists: what the URL says of them, and the type of their queries. */
import { useSearchParams } from 'react-router'

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

const standardLimit = 20
const wholeNumber = (text: string | null, standard: number): number =>
  text !== null && /^\d{1,9}$/.test(text) ? Number(text) : standard

/** `?q=&limit=&offset=`. A new search begins at the first page and takes no place in the history. */
export function usePaging() {
  const [search, setSearch] = useSearchParams()
  const q = search.get('q') ?? ''
  const params: PageParams = {
    limit: Math.min(Math.max(wholeNumber(search.get('limit'), standardLimit), 1), 100),
    offset: wholeNumber(search.get('offset'), 0),
    ...(q !== '' && { q }),
  }
  const change = (name: string, value: string, replace: boolean) =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before)
        if (name === 'q') after.delete('offset')
        if (value === '' || value === '0') after.delete(name)
        else after.set(name, value)
        return after
      },
      { replace },
    )
  return {
    params,
    q,
    setQ: (text: string) => change('q', text, true),
    setOffset: (offset: number) => change('offset', String(offset), false),
  }
}
