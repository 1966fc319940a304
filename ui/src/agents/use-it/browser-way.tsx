/** How a web page calls the agent: the code, and whether any page may. */
import { Alert, Anchor, Text, Title } from '@mantine/core'
import { IconWorld } from '@tabler/icons-react'
import { Link } from 'react-router'
import { Code } from '../../playground/markdown/code.tsx'
import classes from '../agents.module.css'
import { type Agent, deployPath } from '../resource.ts'
import { browserSnippets } from './browser-snippets.ts'

export function BrowserWay({ agent: { id, allowedOrigins }, needsKey }: { agent: Agent; needsKey: boolean }) {
  const place = { origin: location.origin, agentId: id, deployPath: deployPath(id), needsKey }
  const settings = (
    <Anchor component={Link} to={`/agents/${id}?section=pages`} underline="always" inherit>
      Allowed origins
    </Anchor>
  )
  return (
    <div className={classes.snippets}>
      {allowedOrigins.length === 0 ? (
        <Alert color="gray" icon={<IconWorld aria-hidden />} title="No websites are allowed yet">
          Browsers refuse its answers to pages of other origins. Enter the origin of your page in the settings, under{' '}
          {settings}.
        </Alert>
      ) : (
        <Text fz="sm">
          Pages of {allowedOrigins.join(', ')} may call this agent ({settings}).
        </Text>
      )}
      {browserSnippets(place).map(({ title, words, code, grammar, language }, index) => (
        <section key={title}>
          <Title order={2}>{`${index + 1}. ${title}`}</Title>
          <Text c="dimmed" fz="sm" mb="xs">
            {words}
          </Text>
          <Code code={code} language={grammar} caption={`${title}, ${language}`} />
        </section>
      ))}
    </div>
  )
}
