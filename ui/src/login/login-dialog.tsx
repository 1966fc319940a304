import { Modal, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { LoginForm } from './login-form.tsx'
import { loggedIn } from './login-state.ts'
import { currentUser } from './queries.ts'

/** A dialog over the page, while calls wait for it. Nothing on the page is lost; it closes only by a login. */
export default function LoginDialog() {
  const queryClient = useQueryClient()
  const username = queryClient.getQueryData(currentUser.queryKey)?.username ?? ''
  const goOn = () => {
    loggedIn()
    // Whatever the page shows is older than the login that has ended.
    void queryClient.invalidateQueries()
  }
  return (
    <Modal opened onClose={() => {}} withCloseButton={false} title="Your login has ended" size="sm" zIndex={500}>
      <Text c="dimmed" fz="sm" mb="md">
        Log in to continue. What you typed is still here, and your last action will go through.
      </Text>
      <LoginForm username={username} onLogin={goOn} />
    </Modal>
  )
}
