import { Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { useRouteError } from 'react-router'
import { wordsOf } from '../api.ts'
import classes from './crash-page.module.css'

/** A page that broke: a fault of ours, or a part that a newer build replaced; loading it anew mends the latter. */
export function CrashPage() {
  const error = useRouteError()
  return (
    <Stack component="section" className={classes.page} role="alert">
      <title>Something broke · Greenroom</title>
      <Title order={1}>This page broke</Title>
      <Text c="dimmed">Nothing that was saved is lost. Loading the page again usually helps.</Text>
      <Code block>{wordsOf(error)}</Code>
      <Group>
        <Button onClick={() => location.reload()}>Load again</Button>
        <Button component="a" href="/" variant="default">
          To the start
        </Button>
      </Group>
    </Stack>
  )
}
