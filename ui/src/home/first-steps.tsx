/** The steps to the first reply: which are done, and which is next. */
import { Button, Group, Text, Title } from '@mantine/core'
import { IconArrowRight, IconCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { type Agent, playgroundPath } from '../agents/resource.ts'
import classes from './first-steps.module.css'

interface FirstStepsProps {
  /** True if there is a provider besides the demo's. */
  hasProvider: boolean
  /** An agent that does not use the demo's model. */
  agent: Agent | undefined
  /** True if there is no agent yet, not even the demo. */
  isFirst: boolean
  /** True if there has been a conversation. */
  talked: boolean
  onDismiss: () => void
}

const dismissedKey = 'first-steps'

/** Returns whether they were dismissed in this browser. */
export function useDismissed(): { isDismissed: boolean; dismiss: () => void } {
  const [isDismissed, setDismissed] = useState(() => localStorage.getItem(dismissedKey) === 'dismissed')
  const dismiss = () => {
    localStorage.setItem(dismissedKey, 'dismissed')
    setDismissed(true)
  }
  return { isDismissed, dismiss }
}

interface Step {
  /** The page to do it on; once it is done, the page of its result. */
  to: string
  title: string
  text: string
  isDone: boolean
}

export function FirstSteps({ hasProvider, agent, isFirst, talked, onDismiss }: FirstStepsProps) {
  const steps: Step[] = [
    {
      to: hasProvider ? '/providers' : '/providers/new',
      title: 'Connect a provider',
      text: 'Where your models run: a vendor with your API key, or your own server.',
      isDone: hasProvider,
    },
    {
      to: agent ? `/agents/${agent.id}` : '/agents/new',
      title: 'Create an agent',
      text: 'A model, a prompt and tools, behind one address.',
      isDone: agent !== undefined,
    },
    {
      to: agent ? playgroundPath(agent.id) : '/playground',
      title: 'Talk to it',
      text: 'In the playground; then copy the code that calls it.',
      isDone: talked && agent !== undefined,
    },
  ]
  const next = steps.findIndex(({ isDone }) => !isDone)
  return (
    <section aria-labelledby="first-steps">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="first-steps">
          {isFirst ? 'Three steps to the first reply' : 'Get started'}
        </Title>
        <Button variant="subtle" color="gray" size="compact-sm" onClick={onDismiss}>
          Dismiss
        </Button>
      </Group>
      <ol className={classes.steps}>
        {steps.map(({ to, title, text, isDone }, index) => (
          <li
            key={title}
            className={classes.step}
            data-done={isDone || undefined}
            aria-current={index === next ? 'step' : undefined}
          >
            <span className={classes.mark} aria-hidden>
              {isDone ? <IconCheck size={16} stroke={2.2} /> : index + 1}
            </span>
            <div className={classes.text}>
              <Title order={3}>
                <Link to={to} className={classes.link}>
                  {title}
                </Link>
              </Title>
              <Text c="dimmed" fz="sm">
                {text}
              </Text>
            </div>
            {isDone && <Text className={classes.count ?? ''}>Done</Text>}
            <IconArrowRight size={18} stroke={1.6} className={classes.arrow} aria-hidden />
          </li>
        ))}
      </ol>
    </section>
  )
}
