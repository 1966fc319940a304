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

/** A page ends after so many characters, even with fewer items than asked for; it then says that there are more. */
const MOST_CHARACTERS = 8 * 2 ** 20

export const orderOf = ({ order }: ItemQuery): 'asc' | 'desc' => (order === 'asc' ? 'asc' : 'desc')

/** `items`: in the order that was asked for. Throws 400 for an `after` that is none of them. */
export async function listOfItems<Item extends Listed>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { limit = 20, after }: ItemQuery,
) {
  const data: Item[] = []
  let isBehind = after === undefined
  let hasMore = false
  let characters = 0
  for await (const item of items) {
    if (!isBehind) isBehind = item.id === after
    else if (data.length === limit || characters > MOST_CHARACTERS) {
      hasMore = true
      break
    } else {
      data.push(item)
      characters += JSON.stringify(item).length
    }
  }
  if (!isBehind) badRequest('after: there is no such item')
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  }
}
