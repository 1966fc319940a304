import { Modal, Text } from '@mantine/core'
import { useEffect } from 'react'
import { api } from '../api.ts'
import { queryClient } from '../query-client.ts'
import { LoginForm } from './login-form.tsx'
import { loggedIn } from './login-state.ts'
import { currentUser } from './queries.ts'

function goOn(): void {
  loggedIn()
  // Whatever the page shows is older than the login that has ended.
  void queryClient.invalidateQueries()
}

/** A dialog over the page, while calls wait for it. Nothing on the page is lost; it closes only by a login. */
export default function LoginDialog() {
  const username = queryClient.getQueryData(currentUser.queryKey)?.username ?? ''
  useLoginElsewhere(username)
  return (
    <Modal opened onClose={() => {}} withCloseButton={false} title="Your login has ended" size="sm" zIndex={500}>
      <Text c="dimmed" fz="sm" mb="md">
        Log in to continue. What you typed is still here, and your last action will go through.
      </Text>
      <LoginForm username={username} onLogin={goOn} to="/" isApart />
    </Modal>
  )
}

/** Closes the dialog when the same user has logged in again in another window. For another user it stays open. */
function useLoginElsewhere(username: string): void {
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const ask = async () => {
      if (document.visibilityState !== 'visible') return
      const user = await api.GET('/api/auth/me', { signal }).catch(() => null)
      if (user?.username === username && !signal.aborted) goOn()
    }
    addEventListener('focus', ask, { signal })
    document.addEventListener('visibilitychange', ask, { signal })
    return () => controller.abort()
  }, [username])
}
