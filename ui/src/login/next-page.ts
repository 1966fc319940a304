/** Where `?next=` leads; null without one, and for another origin. */
export function nextPage(href: string): string | null {
  const url = new URL(href)
  const next = url.searchParams.get('next')
  if (next === null || !URL.canParse(next, url.origin)) return null
  const target = new URL(next, url.origin)
  return target.origin === url.origin ? target.pathname + target.search + target.hash : null
}
