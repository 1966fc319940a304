/** OpenAI's list objects of items (contract section 24). */
import { badRequest } from '../../../server/http-error.ts'
import { uuidIn } from './ids.ts'

export interface ItemQuery {
  limit?: number | undefined
  after?: string | undefined
  order?: string | undefined
}

interface Listed {
  id: string
}

/** The size after which a page ends, even with fewer items than requested. The page then says that there are more. */
const MOST_CHARACTERS = 8 * 2 ** 20

export const orderOf = ({ order }: ItemQuery): 'asc' | 'desc' => (order === 'asc' ? 'asc' : 'desc')

/** Returns a page of `items`, which come in the requested order. Throws 400 for an unknown `after`. */
export async function listOfItems<Item extends Listed>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { limit = 20, after }: ItemQuery,
) {
  const data: Item[] = []
  const uuid = uuidIn(after)
  const isCursor = (id: string): boolean => id === after || (uuid !== null && uuidIn(id) === uuid)
  let isPastCursor = after === undefined
  let hasMore = false
  let characters = 0
  for await (const item of items) {
    if (!isPastCursor) isPastCursor = isCursor(item.id)
    else if (data.length === limit || characters > MOST_CHARACTERS) {
      hasMore = true
      break
    } else {
      data.push(item)
      characters += JSON.stringify(item).length
    }
  }
  if (!isPastCursor) badRequest('after: there is no such item')
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  }
}
