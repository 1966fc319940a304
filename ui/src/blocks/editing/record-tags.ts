/** The newest `ETag` of each record that was read or written, by its address. */

const tags = new Map<string, string>()

/** Stores the tag of a response. `path`: of the request, without a query. */
export function noteTag(path: string, response: Response): void {
  const tag = response.headers.get('etag')
  if (response.ok && tag !== null) tags.set(path, tag)
}

export const tagOf = (path: string): string | undefined => tags.get(path)
