/** A kind of stored record: the path of its pages, how it is read and deleted, and what a change makes stale. */
import type { Icon } from '@tabler/icons-react'
import { queryClient } from '../query-client.ts'
import type { PageOf, PageParams } from './pages/paging.ts'

export interface StoredRecord {
  id: string
  name: string
  updatedAt: string
}

/** The input of `useQuery`. */
export interface Query<Data> {
  queryKey: readonly unknown[]
  queryFn: (context: { signal: AbortSignal }) => Promise<Data>
  staleTime?: number
}

interface AtRecord {
  params: { path: { id: string } }
}

interface Description<Item> {
  /** The record's name within a sentence: "HTTP tool". */
  noun: string
  /** The heading of its list, and its name in the navigation: "HTTP tools". */
  title: string
  /** The path of its list; a record's page is below, by its id. */
  path: string
  /** The address of its list at the API. */
  apiPath: string
  icon: Icon
  /** The first part of its query keys. What is known of one record has the key `[key, …, id]`. */
  key: string
  page: (init: { params: { query: PageParams }; signal: AbortSignal }) => Promise<PageOf<Item>>
  one: (init: AtRecord & { signal: AbortSignal }) => Promise<Item>
  remove: (init: AtRecord) => Promise<unknown>
}

export interface Resource<Item extends StoredRecord = StoredRecord>
  extends Pick<Description<Item>, 'noun' | 'title' | 'path' | 'icon' | 'apiPath'> {
  list: (params: PageParams) => Query<PageOf<Item>>
  /** Every record, for pickers and for "used by". */
  all: Query<Item[]>
  one: (id: string) => Query<Item>
  /** Rejects with `ApiError` 409, which names the agents, where agents use the record and need it. */
  remove: (id: string) => Promise<void>
  /** Called after a write: all queries that show these records are read again. */
  changed: () => void
}

/** Returns the parameters of the API's calls for one record. */
export const atRecord = (id: string): AtRecord => ({ params: { path: { id } } })

export function resource<Item extends StoredRecord>(description: Description<Item>): Resource<Item> {
  const { noun, title, path, apiPath, icon, key, page, one, remove } = description
  const changed = () => void queryClient.invalidateQueries({ queryKey: [key] })
  return {
    noun,
    title,
    path,
    apiPath,
    icon,
    list: (query) => ({ queryKey: [key, 'list', query], queryFn: ({ signal }) => page({ params: { query }, signal }) }),
    all: {
      queryKey: [key, 'all'],
      queryFn: ({ signal }) => every((query) => page({ params: { query }, signal })),
    },
    one: (id) => ({ queryKey: [key, 'one', id], queryFn: ({ signal }) => one({ ...atRecord(id), signal }) }),
    async remove(id) {
      await remove(atRecord(id))
      queryClient.removeQueries({ queryKey: [key], predicate: ({ queryKey }) => queryKey[2] === id })
      changed()
      // A deleted tool leaves every agent's choice too.
      void queryClient.invalidateQueries({ queryKey: ['agents', 'tools'] })
    },
    changed,
  }
}

/** Reads all items, a hundred a request, the most that the server gives. */
async function every<Item>(page: (params: PageParams) => Promise<PageOf<Item>>): Promise<Item[]> {
  const all: Item[] = []
  for (;;) {
    const { items, total } = await page({ limit: 100, offset: all.length })
    all.push(...items)
    if (items.length === 0 || all.length >= total) return all
  }
}
