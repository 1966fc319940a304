/** Returns the short name of a session. */

export const shortId = (id: string): string => id.slice(0, 8)

/**
 * Returns a short id of a session or a reply. Ids of one minute share the first eight digits, those of one millisecond
 * the first twelve.
 */
export const timedShortId = (id: string): string => id.slice(0, 13)

/** Returns the session's title; until it has one, the beginning of its id. */
export const sessionName = ({ id, title }: { id: string; title: string | null }): string =>
  title === null ? `Untitled, ${timedShortId(id)}` : plainTitle(title)

/** Returns the title without the Markdown that a message began with. A title may end within marked text. */
export const plainTitle = (title: string): string =>
  title
    .replace(/^\s*(?:```\w*|#{1,6}|>|[-*+])\s+/, '')
    .replaceAll(/(?<![\w*])\*\*(?=\S)([^*]+)(?:(?<=\S)\*\*(?![\w*])|$)/g, '$1')
    .replaceAll(/`([^`]+)(?:`|$)/g, '$1')
    .replaceAll(/\[([^\]]+)\]\([^)\s]*\)?/g, '$1')
    .trim() || title
