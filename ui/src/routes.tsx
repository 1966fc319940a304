/** Addresses and the pages behind them; each page is loaded when it is first asked for. */
import { Loader } from '@mantine/core'
import { createBrowserRouter, type RouteObject } from 'react-router'
import { CrashPage } from './shell/crash-page.tsx'
import { NotFoundPage } from './shell/not-found-page.tsx'
import { Shell } from './shell/shell.tsx'

const pages: RouteObject[] = [
  { index: true, lazy: () => import('./home/home-page.tsx') },
  { path: 'playground/:agentId?/:sessionId?', lazy: () => import('./playground/playground-page.tsx') },
  { path: 'chart', lazy: () => import('./chart/chart-page.tsx') },
  { path: 'usage', lazy: () => import('./usage/usage-page.tsx') },
  { path: 'agents', lazy: () => import('./agents/agents-page.tsx') },
  { path: 'agents/new', lazy: () => import('./agents/new-agent-page.tsx') },
  { path: 'agents/:id', lazy: () => import('./agents/agent-page.tsx') },
  { path: 'prompts', lazy: () => import('./prompts/prompts-page.tsx') },
  { path: 'prompts/new', lazy: () => import('./prompts/new-prompt-page.tsx') },
  { path: 'prompts/:id', lazy: () => import('./prompts/prompt-page.tsx') },
  { path: 'providers', lazy: () => import('./providers/providers-page.tsx') },
  { path: 'providers/new', lazy: () => import('./providers/new-provider-page.tsx') },
  { path: 'providers/:id', lazy: () => import('./providers/provider-page.tsx') },
  { path: 'tools/http', lazy: () => import('./http-tools/http-tools-page.tsx') },
  { path: 'tools/http/new', lazy: () => import('./http-tools/new-http-tool-page.tsx') },
  { path: 'tools/http/:id', lazy: () => import('./http-tools/http-tool-page.tsx') },
  { path: 'tools/mcp', lazy: () => import('./mcp-servers/mcp-servers-page.tsx') },
  { path: 'tools/mcp/new', lazy: () => import('./mcp-servers/new-mcp-server-page.tsx') },
  { path: 'tools/mcp/:id', lazy: () => import('./mcp-servers/mcp-server-page.tsx') },
  { path: 'tools/built-in', lazy: () => import('./built-in-tools/built-in-tools-page.tsx') },
  { path: '*', element: <NotFoundPage /> },
]

export const router = createBrowserRouter([
  {
    element: <Shell />,
    errorElement: <CrashPage />,
    hydrateFallbackElement: <Loader aria-label="Loading" m="xl" />,
    // Below the shell: a page that breaks leaves the navigation standing.
    children: [{ errorElement: <CrashPage />, children: pages }],
  },
])
