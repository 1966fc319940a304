import { Code, Loader, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ErrorAlert } from '../blocks/error-alert.tsx'
import { Page } from '../blocks/page.tsx'
import { Panel } from '../blocks/panel.tsx'
import classes from './built-in-tools.module.css'
import { builtInTools } from './queries.ts'

export function Component() {
  const { data: tools, error } = useQuery(builtInTools)
  return (
    <Page
      title="Built-in tools"
      description="They come with the server and need no setting up. Tick them in an agent’s settings."
    >
      <ErrorAlert error={error} />
      {!tools && !error && <Loader aria-label="Loading" />}
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
