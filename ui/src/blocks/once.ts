/**
 * Made when it is first asked for. What words numbers and times (Intl) reads a language's data when it is made, on a phone a
 * fifth of a second: not while a page is being loaded that may show none.
 */
export function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}
