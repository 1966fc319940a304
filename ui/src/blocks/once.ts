/**
 * Returns a function that makes a value when it is first called. Formatters of numbers and times (Intl) read a
 * language's data when they are made, on a phone a fifth of a second: not while a page is loaded that may show none.
 */
export function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}
