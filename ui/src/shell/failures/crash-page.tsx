import { Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { useRouteError } from 'react-router'
import { wordsOf } from '../../api.ts'
import classes from './crash-page.module.css'

/** A page that crashed: a bug, or a part that a newer build has replaced; reloading fixes the latter. */
export function CrashPage() {
  const error = useRouteError()
  return (
    <Stack component="section" className={classes.page} role="alert">
      <title>Error · Greenroom</title>
      <Title order={1}>This page has crashed</Title>
      <Text c="dimmed">Nothing you saved is lost. Reloading the page usually helps.</Text>
      <Code block>{wordsOf(error)}</Code>
      <Group>
        <Button onClick={() => location.reload()}>Reload</Button>
        <Button component="a" href="/" variant="default">
          Go to the home page
        </Button>
      </Group>
    </Stack>
  )
}
