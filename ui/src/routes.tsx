/** Addresses and the pages behind them; each page is loaded when it is first visited. */
import { Loader } from '@mantine/core'
import type { ComponentType } from 'react'
import { createBrowserRouter, Outlet, type RouteObject } from 'react-router'
import { allAgents } from './agents/resource.ts'
import { AwaitedLines } from './blocks/awaited/awaited.tsx'
import head from './blocks/pages/page.module.css'
import { Page, type PageProps } from './blocks/pages/page.tsx'
import { recentSessions, someAgents, someProviders } from './home/queries.ts'
import { currentUser } from './login/queries.ts'
import { mayAct, type Role, roleFor } from './login/roles.ts'
import { queryClient } from './query-client.ts'
import { resources } from './resources.ts'
import { CrashPage } from './shell/failures/crash-page.tsx'
import { NotFoundPage } from './shell/failures/not-found-page.tsx'
import { FirstFrame, firstOfWindow } from './shell/first/first-frame.tsx'
import { fetchAhead, followRouter, inPieces, reliable } from './shell/reliable-import.ts'
import { Shell } from './shell/shell.tsx'
import { WaitingTitle } from './waiting/waiting-title.tsx'

const loading = <Loader role="img" aria-label="Loading" m="xl" />

/** Returns a page whose heading stands before the page has been loaded, and stays. */
const headed = (
  path: string,
  head: Omit<PageProps, 'children'>,
  lazy: () => Promise<{ Component: ComponentType }>,
): RouteObject => ({
  path,
  element: (
    <Page {...head}>
      <Outlet />
    </Page>
  ),
  children: [{ index: true, lazy, hydrateFallbackElement: <AwaitedLines /> }],
})

/**
 * Begins what a page reads first while its code is evaluated, in a turn of its own. Nothing is read before it is known that
 * somebody is logged in: a refusal would ask for the login that the gate asks for.
 */
const reading =
  <Loaded,>(read: (role: Role | null) => unknown, load: () => Promise<Loaded>) =>
  async (): Promise<Loaded> => {
    void queryClient.ensureQueryData(currentUser).then(
      (user) => user !== null && setTimeout(read, 0, user.role),
      () => undefined,
    )
    return await load()
  }

const readForHome = (role: Role | null) => [
  mayAct(role, roleFor('open', '/sessions')) && queryClient.prefetchQuery(recentSessions),
  queryClient.prefetchQuery(someProviders),
  queryClient.prefetchQuery(someAgents),
]

const chat = () => import('./playground/chat.tsx')
const playgroundPage = () => import('./playground/playground-page.tsx')

const pages: RouteObject[] = [
  {
    index: true,
    lazy: reading(
      readForHome,
      reliable(() => import('./home/home-page.tsx')),
    ),
    hydrateFallbackElement: <FirstFrame of="home" />,
  },
  {
    path: 'playground/:agentId?/:sessionId?',
    lazy: reading(() => queryClient.prefetchQuery(allAgents), inPieces([reliable(chat)], reliable(playgroundPage))),
    hydrateFallbackElement: <FirstFrame of={firstOfWindow() ?? 'chat'} />,
  },
  headed(
    'sessions',
    {
      title: 'Sessions',
      description: 'Every conversation with every agent, most recently updated first.',
      width: 'full',
    },
    reliable(() => import('./sessions/sessions-page.tsx')),
  ),
  headed(
    'waiting',
    {
      title: 'Approvals',
      windowTitle: <WaitingTitle />,
      description: 'Tool calls that wait for an approval or another answer, across all agents, oldest first.',
      width: 'full',
    },
    reliable(() => import('./waiting/waiting-page.tsx')),
  ),
  headed(
    'chart',
    {
      title: 'Live view',
      description: (
        <span className={head.whereWide}>
          Where a reply is, how long it is silent, what may come next, and why it ended.
        </span>
      ),
      width: 'full',
    },
    reliable(() => import('./chart/chart-page.tsx')),
  ),
  { path: 'replies/:id', lazy: reliable(() => import('./replies/reply-page.tsx')) },
  headed(
    'usage',
    {
      title: 'Usage',
      description:
        'Input and output tokens of every reply, however it ended, including those of deleted sessions and agents.',
    },
    reliable(() => import('./usage/usage-page.tsx')),
  ),
  headed(
    'audit',
    { title: 'Audit', description: 'Who changed what, newest first: records, logins, keys, imports.', width: 'full' },
    reliable(() => import('./audit/audit-page.tsx')),
  ),
  headed(
    'connections',
    {
      title: 'Connections',
      description: 'Which users have signed in at which MCP servers, and with which agents. The oldest come first.',
      width: 'full',
    },
    reliable(() => import('./connections/connections-page.tsx')),
  ),
  { path: 'replays/:agentId', lazy: reliable(() => import('./replays/replays-page.tsx')) },
  { path: 'replays/:agentId/:replayId', lazy: reliable(() => import('./replays/replay-page.tsx')) },
  { path: 'agents/:id/versions', lazy: reliable(() => import('./versions/versions-page.tsx')) },
  { path: 'tools/built-in', lazy: reliable(() => import('./built-in-tools/built-in-tools-page.tsx')) },
  ...resources.flatMap(({ resource: { path }, listPage, recordPages }): RouteObject[] => [
    { path, lazy: reliable(listPage) },
    { path: `${path}/new`, lazy: async () => ({ Component: (await reliable(recordPages)()).New }) },
    { path: `${path}/:id`, lazy: async () => ({ Component: (await reliable(recordPages)()).Existing }) },
  ]),
  { path: '*', element: <NotFoundPage /> },
]

export const router = createBrowserRouter([
  {
    element: <Shell />,
    errorElement: <CrashPage />,
    // Below the shell: a page that crashes or is still being loaded leaves the navigation in place.
    children: [
      {
        errorElement: <CrashPage />,
        children: pages.map((page) => (page.lazy ? { hydrateFallbackElement: loading, ...page } : page)),
      },
    ],
  },
])

followRouter(() => {
  const next = router.state.navigation.location
  return next ? `${next.pathname}${next.search}${next.hash}` : null
})

/** Long after what the first page needs. */
const AHEAD_MS = 5_000

fetchAhead(
  [
    inPieces([chat], playgroundPage),
    () => import('./playground/transcript/transcript-view.tsx'),
    () => import('./playground/sessions/session-side.tsx'),
    () => import('./sessions/sessions-page.tsx'),
    ...resources.flatMap(({ listPage, recordPages }) => [listPage, recordPages]),
    () => import('./waiting/waiting-page.tsx'),
    () => import('./chart/chart-page.tsx'),
    () => import('./replies/reply-page.tsx'),
    () => import('./usage/usage-page.tsx'),
    () => import('./built-in-tools/built-in-tools-page.tsx'),
    () => import('./shell/palette/command-palette.tsx'),
    () => import('./blocks/late/opened-drawer.tsx'),
    () => import('./blocks/late/delete-dialog.tsx'),
    () => import('./playground/composer/question/question.tsx'),
  ],
  AHEAD_MS,
)
