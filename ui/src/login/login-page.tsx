import { Center, Paper, Stack, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Brand } from '../shell/brand.tsx'
import { UnreachableNotice } from '../shell/failures/unreachable.tsx'
import { LoginForm } from './login-form.tsx'
import { nextPage } from './next-page.ts'

/** Shown before anything else. Leads to `?next=`, or to the page that was requested. */
export default function LoginPage() {
  const queryClient = useQueryClient()
  const goOn = () => {
    const next = nextPage(location.href)
    if (next !== null) location.assign(next)
    else void queryClient.resetQueries({ queryKey: ['auth'] })
  }
  return (
    <Center component="main" mih="100dvh" p="md">
      <title>Log in · Greenroom</title>
      <UnreachableNotice />
      <Stack w="100%" maw={380} gap="xl" pb="10vh">
        <Center>
          <span className="brand" data-large>
            <Brand />
          </span>
        </Center>
        <Paper withBorder p="xl" radius="lg" shadow="xs">
          <Title order={1} fz="xl" mb="lg">
            Log in
          </Title>
          <LoginForm onLogin={goOn} to={nextPage(location.href) ?? location.pathname + location.search} />
        </Paper>
      </Stack>
    </Center>
  )
}
