/** `&amp;` and its like as the characters that they mean: Markdown has them in its text. */

const entity = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|\w{2,31});/g

export const plainText = (text: string): string => (text.includes('&') ? text.replace(entity, decoded) : text)

/** Decodes an entity with a document that is never shown: it runs and loads nothing, and an entity holds no tag. */
const decoded = (text: string): string =>
  new DOMParser().parseFromString(text, 'text/html').documentElement.textContent ?? text
