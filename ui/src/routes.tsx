/** Addresses and the pages behind them; each page is loaded when it is first visited. */
import { Loader, Skeleton } from '@mantine/core'
import { createBrowserRouter, type RouteObject } from 'react-router'
import { Page } from './blocks/page.tsx'
import { resources } from './resources.ts'
import { CrashPage } from './shell/crash-page.tsx'
import { NotFoundPage } from './shell/not-found-page.tsx'
import { pageHeads } from './shell/page-heads.ts'
import { fetchAhead, followRouter, reliable } from './shell/reliable-import.ts'
import { Shell } from './shell/shell.tsx'

const headOf = (name: keyof typeof pageHeads) => (
  <Page {...pageHeads[name]}>
    <Skeleton h={420} role="status" aria-label="Loading" />
  </Page>
)

const pages: RouteObject[] = [
  { index: true, lazy: reliable(() => import('./home/home-page.tsx')) },
  { path: 'playground/:agentId?/:sessionId?', lazy: reliable(() => import('./playground/playground-page.tsx')) },
  { path: 'playground/:agentId/compare', lazy: reliable(() => import('./compare/compare-page.tsx')) },
  {
    path: 'sessions',
    lazy: reliable(() => import('./sessions/sessions-page.tsx')),
    hydrateFallbackElement: headOf('sessions'),
  },
  {
    path: 'waiting',
    lazy: reliable(() => import('./waiting/waiting-page.tsx')),
    hydrateFallbackElement: headOf('waiting'),
  },
  {
    path: 'chart',
    lazy: reliable(() => import('./chart/chart-page.tsx')),
    hydrateFallbackElement: headOf('chart'),
  },
  {
    path: 'usage',
    lazy: reliable(() => import('./usage/usage-page.tsx')),
    hydrateFallbackElement: headOf('usage'),
  },
  { path: 'tools/built-in', lazy: reliable(() => import('./built-in-tools/built-in-tools-page.tsx')) },
  { path: 'break-it', lazy: reliable(() => import('./break-it/break-it-page.tsx')) },
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
        children: pages.map((page) => ({
          hydrateFallbackElement: <Loader aria-label="Loading" m="xl" />,
          ...page,
        })),
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
    () => import('./playground/playground-page.tsx'),
    () => import('./sessions/sessions-page.tsx'),
    ...resources.flatMap(({ listPage, recordPages }) => [listPage, recordPages]),
    () => import('./shell/command-palette.tsx'),
  ],
  AHEAD_MS,
)
