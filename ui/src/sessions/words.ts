/** How sessions are called. */

export const shortId = (id: string): string => id.slice(0, 8)

/** Of a session or a reply: those of one minute share the first eight, those of one millisecond the first twelve digits. */
export const timedShortId = (id: string): string => id.slice(0, 13)

/** Its title; until it has one, the beginning of its id. */
export const sessionName = ({ id, title }: { id: string; title: string | null }): string =>
  title === null ? `Untitled, ${timedShortId(id)}` : plainTitle(title)

/** Without the Markdown that a message began with. A title may end within what was marked. */
export const plainTitle = (title: string): string =>
  title
    .replace(/^\s*(?:```\w*|#{1,6}|>|[-*+])\s+/, '')
    .replaceAll(/(?<![\w*])\*\*(?=\S)([^*]+)(?:(?<=\S)\*\*(?![\w*])|$)/g, '$1')
    .replaceAll(/`([^`]+)(?:`|$)/g, '$1')
    .replaceAll(/\[([^\]]+)\]\([^)\s]*\)?/g, '$1')
    .trim() || title
