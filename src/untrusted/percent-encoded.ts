/**
 * Returns whether each `%` begins a character that can be decoded. What is decoded is looked at: the build of the server
 * leaves out calls of `decodeURIComponent` whose result nobody uses, although they throw.
 */
export function isPercentEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text).isWellFormed()
  } catch {
    return false
  }
}
