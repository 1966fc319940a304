/** The roles of people: the pages that each opens, and the controls. The server judges; the pages only say it first. */
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'react-router'
import { currentUser } from './queries.ts'

export type Role = 'viewer' | 'editor' | 'admin'

const roles: readonly Role[] = ['viewer', 'editor', 'admin']

type Act = 'open' | 'change' | 'delete'

/** The roles by the beginning of a page's address; the rest is opened by everybody, and changed by editors. */
const needed: Record<Act, { others: Role; pages: Readonly<Record<string, Role>> }> = {
  open: {
    others: 'viewer',
    pages: {
      '/playground': 'editor',
      '/sessions': 'editor',
      '/replies': 'editor',
      '/replays': 'editor',
      '/waiting': 'editor',
      '/chart': 'editor',
      '/connections': 'editor',
      '/webhooks': 'admin',
      '/keys': 'admin',
      '/audit': 'admin',
    },
  },
  change: {
    others: 'editor',
    pages: { '/providers': 'admin', '/usage': 'admin', '/webhooks': 'admin', '/keys': 'admin' },
  },
  delete: {
    others: 'editor',
    pages: { '/agents': 'admin', '/providers': 'admin', '/webhooks': 'admin', '/keys': 'admin' },
  },
}

/** Returns the least role for an act on the page at this address. The page of a new record opens to those who may make one. */
export function roleFor(act: Act, address: string): Role {
  const [pathname = ''] = address.split(/[?#]/)
  const { others, pages } = needed[pathname.endsWith('/new') && act === 'open' ? 'change' : act]
  const page = Object.keys(pages).find((start) => pathname === start || pathname.startsWith(`${start}/`))
  return (page === undefined ? undefined : pages[page]) ?? others
}

/** Reports whether the role that is held is enough. While it is not known, nothing is refused. */
export const mayAct = (held: Role | null | undefined, least: Role): boolean =>
  held == null || roles.indexOf(held) >= roles.indexOf(least)

const refusalWords = (least: Role): string => `This needs the role ${least}.`

/** Returns the reason why the person here may not act on a page, by default the one that is shown; undefined where it may. */
export function useRefusal(act: Act, path?: string): string | undefined {
  const { pathname } = useLocation()
  const { data } = useQuery(currentUser)
  const least = roleFor(act, path ?? pathname)
  return mayAct(data?.role, least) ? undefined : refusalWords(least)
}
