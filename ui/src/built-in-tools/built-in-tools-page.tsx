import { Button, Code, Loader, Text } from '@mantine/core'
import { IconRobot } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { ReadFailure } from '../blocks/messages/when-read.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { Panel } from '../blocks/panel.tsx'
import classes from './built-in-tools.module.css'
import { builtInTools } from './queries.ts'

export function Component() {
  const query = useQuery(builtInTools)
  const { data: tools, error } = query
  return (
    <Page
      title="Built-in tools"
      description="They come with the server and need no setup. Choose them in an agent’s settings, under “Tools”."
      actions={
        <Button
          component={Link}
          to="/agents"
          variant="default"
          leftSection={<IconRobot size={16} stroke={1.7} aria-hidden />}
        >
          Choose an agent
        </Button>
      }
    >
      <ReadFailure error={error} query={query} />
      {!tools && !error && <Loader role="img" aria-label="Loading" />}
      <div className={classes.tools}>
        {tools?.map(({ id, name, description }) => (
          <Panel key={id} title={name} action={id !== name && <Code>{id}</Code>}>
            <Text c="dimmed">{description}</Text>
          </Panel>
        ))}
      </div>
    </Page>
  )
}
