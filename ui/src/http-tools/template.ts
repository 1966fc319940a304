/** `{{argument}}` in a tool's URL, headers and body (contract section 6). */

export interface Part {
  text: string
  isPlace: boolean
}

const place = /(\{\{[^{}]*\}\})/

/** The text in parts, which joined are the text. */
export const partsOf = (text: string): Part[] =>
  text
    .split(place)
    .filter((piece) => piece !== '')
    .map((piece) => ({ text: piece, isPlace: place.test(piece) }))

/** Names of the arguments in the texts, each once, in order of appearance. */
export const placesIn = (...texts: string[]): string[] => [
  ...new Set(
    texts
      .flatMap(partsOf)
      .filter(({ isPlace }) => isPlace)
      .map(({ text }) => text.slice(2, -2).trim()),
  ),
]
