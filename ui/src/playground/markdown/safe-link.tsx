import type { ReactNode } from 'react'

/** Leads to web and mail addresses only; anything else is its words alone. */
export function SafeLink({ href, children }: { href: string; children: ReactNode }) {
  const isSafe = URL.canParse(href) && /^(?:https?|mailto):$/.test(new URL(href).protocol)
  if (!isSafe) return children
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}
