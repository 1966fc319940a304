/** How sessions are called. */

export const shortId = (id: string): string => id.slice(0, 8)

/** Sessions of one minute share the first eight: to the hyphen and four more they are of one millisecond. */
export const sessionShortId = (id: string): string => id.slice(0, 13)

/** Its title; until it has one, the beginning of its id. */
export const sessionName = ({ id, title }: { id: string; title: string | null }): string =>
  title ?? `Untitled, ${sessionShortId(id)}`
