import '@fontsource-variable/inter/wght.css'
import './mantine.css'
import './base.css'
import './shell/frame.css'
import './shell/first/first-frame.css'
import './chart/tones.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, startTransition } from 'react'
import { RouterProvider } from 'react-router/dom'
import { LoginGate } from './login/login-gate.tsx'
import { queryClient } from './query-client.ts'
import { root } from './root.ts'
import { router } from './routes.tsx'
import { Notices } from './shell/notices/notices.tsx'
import { cssVariables, theme } from './theme.ts'

// The Content-Security-Policy allows style elements with this response's nonce only (src/http/pages/ui.ts).
const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''
// Read by get-nonce, through which Mantine's dialogs lock scrolling.
Object.assign(globalThis, { __webpack_nonce__: nonce })

// In pieces, between which the browser gets its turn: rendered at once, all of it is one long task. The first is not that of
// the router, which has just matched the address.
const render = () =>
  root.render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <QueryClientProvider client={queryClient}>
          <Notices />
          <LoginGate>
            <RouterProvider router={router} />
          </LoginGate>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
setTimeout(() => startTransition(render))
