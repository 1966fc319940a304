/** Lists that are read whole: searched in several columns, and sorted by one. */
import { useQuery } from '@tanstack/react-query'
import { once } from '../once.ts'
import type { Resource, StoredRecord } from '../resource.ts'
import { useSearchParams, withParams } from '../search-params.ts'
import type { PageOf, PageParams } from './paging.ts'

/** The text that a column is searched and sorted by. */
export type TextOf<Item> = (item: Item) => string

/** By the headers of the columns. */
export interface Texts<Item> {
  searched: ReadonlyMap<string, TextOf<Item>>
  sorted: ReadonlyMap<string, TextOf<Item>>
}

export interface Sorting {
  /** The header of a column. Null: as the server lists them, oldest first. */
  by: string | null
  isDescending: boolean
}

/** Returns the sorting in the address, `?sort=Model` or `?sort=-Model`. */
export function useSorting(): { sorting: Sorting; sortBy: (header: string) => void } {
  const [search, setSearch] = useSearchParams()
  const sort = search.get('sort') ?? ''
  const isDescending = sort.startsWith('-')
  const by = sort.slice(isDescending ? 1 : 0) || null
  return {
    sorting: { by, isDescending },
    /** Sorts upwards, then downwards, then in the original order. */
    sortBy(header) {
      const next = by !== header ? header : isDescending ? null : `-${header}`
      void setSearch((before) => withParams(before, { sort: next, offset: null }), { replace: true })
    },
  }
}

/** Searches, sorts and pages a list. `texts`: null where the server pages it. `data`: undefined until it is read. */
export function useWholeList<Item extends StoredRecord>(
  { all }: Resource<Item>,
  { q = '', offset, limit }: PageParams,
  texts: Texts<Item> | null,
  { by, isDescending }: Sorting,
) {
  const { data, error, isFetching, refetch } = useQuery({ ...all, enabled: texts !== null })
  const read = { error, isFetching, refetch }
  if (data === undefined || texts === null) return { data: undefined, ...read }
  const words = q.toLowerCase().split(/\s+/)
  const found = data.filter((item) => {
    const text = [...texts.searched.values()].map((textOf) => textOf(item).toLowerCase())
    return words.every((word) => text.some((one) => one.includes(word)))
  })
  const textOf = texts.sorted.get(by ?? '')
  const order = (one: Item, other: Item) =>
    textOf ? collator().compare(textOf(one), textOf(other)) * (isDescending ? -1 : 1) : 0
  const page: PageOf<Item> = { items: found.toSorted(order).slice(offset, offset + limit), total: found.length }
  return { data: page, ...read }
}

const collator = once(() => new Intl.Collator('en', { numeric: true }))
