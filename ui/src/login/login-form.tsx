import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { login } from './queries.ts'

/** Name and password. `username`: of the expired login; then the password has the focus. */
export function LoginForm({ username = '', onLogin }: { username?: string; onLogin: () => void }) {
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
