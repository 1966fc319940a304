import { Button, Group, Text, Title } from '@mantine/core'
import { IconCode, IconMessageCircle } from '@tabler/icons-react'
import { Link } from 'react-router'
import { type Agent, playgroundPath } from '../agents/resource.ts'
import { ButtonTo } from '../login/button-to.tsx'
import classes from './first-steps.module.css'

/** An agent that is ready: talk to it, or copy the code that calls it. */
export function FirstAgent({ agent: { id, name, model }, talked }: { agent: Agent; talked: boolean }) {
  return (
    <section className={classes.ready} aria-labelledby="ready">
      <Text fz="sm" className={classes.readyMark ?? ''}>
        Ready to talk
      </Text>
      <Title order={2} id="ready" className={classes.readyName ?? ''}>
        {name}
      </Title>
      <Text c="dimmed" fz="sm" mb="lg" maw={520}>
        {model === 'demo'
          ? 'It needs no key. Ask it something, stop it, or close the window mid-reply.'
          : 'Ask it something, stop it, or close the window mid-reply.'}
      </Text>
      <Group gap="sm">
        <ButtonTo to={playgroundPath(id)} leftSection={<IconMessageCircle size={17} stroke={1.7} aria-hidden />}>
          {talked ? 'Open playground' : 'Try it'}
        </ButtonTo>
        <Button
          component={Link}
          to={`/agents/${id}?tab=use`}
          variant="default"
          leftSection={<IconCode size={17} stroke={1.7} aria-hidden />}
        >
          Code
        </Button>
      </Group>
    </section>
  )
}
