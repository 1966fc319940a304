/** Lists of the management API (contract section 2). */
import { type Page, type PageQuery, PageTooLong } from '../../../persistence/postgres/page.ts'
import { HttpError } from '../http-error.ts'

// Larger limits are read as this one.
export const MOST_PER_PAGE = 100

/** Returns `{[key]: items, total, limit, offset}` with the limit that was used. Throws 413. */
export async function listAs<Key extends string, Item>(
  key: Key,
  query: PageQuery,
  list: (query: PageQuery) => Promise<Page<Item>>,
): Promise<{ [K in Key]: Item[] } & { total: number; limit: number; offset: number }> {
  const limit = Math.min(query.limit, MOST_PER_PAGE)
  const { items, total } = await list({ ...query, limit }).catch(refuseLongPage)
  // A computed key widens to string; the declared type says which one it is.
  const named = { [key]: items } as { [K in Key]: Item[] }
  return { ...named, total, limit, offset: query.offset }
}

/** Throws 413 for a page that holds more than is read at once, and any other error as it is. */
export function refuseLongPage(error: unknown): never {
  if (!(error instanceof PageTooLong)) throw error
  throw new HttpError(413, 'limit: the page holds more than 32 MiB; read it in smaller pages.')
}
