import type { PageOf, PageParams } from './paging.ts'

/** Every record of a list, for pickers and for "used by": a hundred a request, the most that the server gives. */
export async function every<Item>(page: (params: PageParams) => Promise<PageOf<Item>>): Promise<Item[]> {
  const all: Item[] = []
  for (;;) {
    const { items, total } = await page({ limit: 100, offset: all.length })
    all.push(...items)
    if (items.length === 0 || all.length >= total) return all
  }
}
