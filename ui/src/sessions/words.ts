/** How sessions are called. */

export const shortId = (id: string): string => id.slice(0, 8)

/** Its title; until it has one, the beginning of its id. */
export const sessionName = ({ id, title }: { id: string; title: string | null }): string =>
  title ?? `Untitled, ${shortId(id)}`
