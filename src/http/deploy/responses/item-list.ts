/** OpenAI's list objects of items (contract section 24). */
import { badRequest } from '../../server/http-error.ts'

export interface ItemQuery {
  limit?: number | undefined
  after?: string | undefined
  order?: string | undefined
}

interface Listed {
  id: string
}

/** `items`: oldest first. Throws 400 for an `after` that is none of them. */
export function listOfItems<Item extends Listed>(
  items: readonly Item[],
  { limit = 20, after, order = 'desc' }: ItemQuery,
) {
  const ordered = order === 'asc' ? items : items.toReversed()
  const at = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after)
  if (after !== undefined && at < 0) badRequest('after: there is no such item')
  const data = ordered.slice(at + 1, at + 1 + limit)
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: ordered.length > at + 1 + data.length,
  }
}
