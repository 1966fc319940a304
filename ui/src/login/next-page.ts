/** Returns the target of `?next=`; null without one, and for another origin. */
export function nextPage(href: string): string | null {
  const url = new URL(href)
  const next = url.searchParams.get('next')
  if (next === null || !URL.canParse(next, url.origin)) return null
  const target = new URL(next, url.origin)
  const path = target.pathname + target.search + target.hash
  // The parser takes dots out: of `/.//host` it leaves `//host`, which names another host when it is followed.
  const leadsThere = URL.canParse(path, url.origin) && new URL(path, url.origin).href === target.href
  return target.origin === url.origin && leadsThere ? path : null
}
