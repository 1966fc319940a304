import { Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { login, loginMethods } from './queries.ts'
import { SignInButton } from './sign-in-button.tsx'

interface LoginFormProps {
  /** The name of the expired login; then the password has the focus. */
  username?: string
  /** The page to return to from the identity provider. */
  to: string
  /** Whether the sign-in at the identity provider opens a window of its own. */
  isApart?: boolean
  onLogin: () => void
}

/** The means to log in: name and password, and the organization's sign-in. */
export function LoginForm({ username = '', onLogin, to, isApart = false }: LoginFormProps) {
  const { data: offered } = useQuery(loginMethods)
  if (offered === undefined) return <PasswordForm username={username} onLogin={onLogin} />
  const { methods, oidcUrl } = offered
  return (
    <Stack gap="md">
      {oidcUrl !== null && <SignInButton url={oidcUrl} to={to} isApart={isApart} />}
      {methods.length > 1 && <Divider label="or" />}
      {methods.includes('password') && <PasswordForm username={username} onLogin={onLogin} />}
    </Stack>
  )
}

function PasswordForm({ username, onLogin }: { username: string; onLogin: () => void }) {
  const [name, setName] = useState(username)
  const [password, setPassword] = useState('')
  const attempt = useMutation({ mutationFn: () => login(name, password), onSuccess: onLogin })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    attempt.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label="Username"
          name="username"
          autoComplete="username"
          required
          withAsterisk={false}
          data-autofocus={username === '' || undefined}
          autoFocus={username === ''}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          visibilityToggleButtonProps={{ tabIndex: 0, 'aria-label': 'Show the password' }}
          required
          withAsterisk={false}
          data-autofocus={username !== '' || undefined}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <ErrorAlert error={attempt.error} />
        <Button type="submit" loading={attempt.isPending} fullWidth>
          Log in
        </Button>
      </Stack>
    </form>
  )
}
