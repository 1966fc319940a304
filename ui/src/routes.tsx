/** Addresses and the pages behind them; each page is loaded when it is first visited. */
import { Loader } from '@mantine/core'
import { createBrowserRouter, type RouteObject } from 'react-router'
import { resources } from './resources.ts'
import { CrashPage } from './shell/crash-page.tsx'
import { NotFoundPage } from './shell/not-found-page.tsx'
import { Shell } from './shell/shell.tsx'

const pages: RouteObject[] = [
  { index: true, lazy: () => import('./home/home-page.tsx') },
  { path: 'playground/:agentId?/:sessionId?', lazy: () => import('./playground/playground-page.tsx') },
  { path: 'sessions', lazy: () => import('./sessions/sessions-page.tsx') },
  { path: 'chart', lazy: () => import('./chart/chart-page.tsx') },
  { path: 'usage', lazy: () => import('./usage/usage-page.tsx') },
  { path: 'tools/built-in', lazy: () => import('./built-in-tools/built-in-tools-page.tsx') },
  ...resources.flatMap(({ resource: { path }, listPage, recordPages }): RouteObject[] => [
    { path, lazy: listPage },
    { path: `${path}/new`, lazy: async () => ({ Component: (await recordPages()).New }) },
    { path: `${path}/:id`, lazy: async () => ({ Component: (await recordPages()).Existing }) },
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
