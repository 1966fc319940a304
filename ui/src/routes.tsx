/** Addresses and the pages behind them; each page is loaded when it is first visited. */
import { Loader } from '@mantine/core'
import { createBrowserRouter, type RouteObject } from 'react-router'
import { resources } from './resources.ts'
import { CrashPage } from './shell/crash-page.tsx'
import { NotFoundPage } from './shell/not-found-page.tsx'
import { fetchAhead, followRouter, reliable } from './shell/reliable-import.ts'
import { Shell } from './shell/shell.tsx'

const pages: RouteObject[] = [
  { index: true, lazy: reliable(() => import('./home/home-page.tsx')) },
  { path: 'playground/:agentId?/:sessionId?', lazy: reliable(() => import('./playground/playground-page.tsx')) },
  { path: 'playground/:agentId/compare', lazy: reliable(() => import('./compare/compare-page.tsx')) },
  { path: 'sessions', lazy: reliable(() => import('./sessions/sessions-page.tsx')) },
  { path: 'waiting', lazy: reliable(() => import('./waiting/waiting-page.tsx')) },
  { path: 'chart', lazy: reliable(() => import('./chart/chart-page.tsx')) },
  { path: 'usage', lazy: reliable(() => import('./usage/usage-page.tsx')) },
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
    hydrateFallbackElement: <Loader aria-label="Loading" m="xl" />,
    // Below the shell: a page that crashes leaves the navigation in place.
    children: [{ errorElement: <CrashPage />, children: pages }],
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
