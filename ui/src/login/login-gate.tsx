/** The login, which is a page of its own at first, and a dialog over the page when it expires. */
import { Center, Loader, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useDeferredValue } from 'react'
import { wordsOf } from '../api.ts'
import { Brand } from '../shell/brand.tsx'
import { UnreachableNotice } from '../shell/failures/unreachable.tsx'
import { FirstFrame, firstOfWindow } from '../shell/first/first-frame.tsx'
import { reliable } from '../shell/reliable-import.ts'
import { useLoginEnded } from './login-state.ts'
import { currentUser } from './queries.ts'

const LoginPage = lazy(reliable(() => import('./login-page.tsx')))
const LoginDialog = lazy(reliable(() => import('./login-dialog.tsx')))

export function LoginGate({ children }: { children: ReactNode }) {
  const { data: user, error } = useQuery(currentUser)
  // Not at once: the whole page hangs on it, and would be one long task.
  const data = useDeferredValue(user)
  const ended = useLoginEnded()
  if (data === undefined) return <Waiting error={error} />
  if (data === null) {
    return (
      <Suspense fallback={<Waiting error={null} />}>
        <LoginPage />
      </Suspense>
    )
  }
  return (
    <>
      {children}
      {ended && (
        <Suspense>
          <LoginDialog />
        </Suspense>
      )}
    </>
  )
}

/** The frame of index.html stays until it is known who may see what. */
function Waiting({ error }: { error: Error | null }) {
  const first = firstOfWindow()
  return (
    <div className="frame">
      <div className="frame-bar">
        <span className="brand">
          <Brand />
        </span>
      </div>
      <div className="frame-side">
        <span className="brand">
          <Brand />
        </span>
      </div>
      <main className="frame-main">
        <UnreachableNotice />
        {first && !error ? (
          <FirstFrame of={first} />
        ) : (
          <Center mih="calc(100dvh - 56px)">
            {error ? <Text role="alert">{wordsOf(error)}</Text> : <Loader role="img" aria-label="Loading" />}
          </Center>
        )}
      </main>
    </div>
  )
}
