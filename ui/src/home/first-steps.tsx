/** The steps to the first reply: which are done, and which is next. */
import { Text, Title } from '@mantine/core'
import { IconArrowRight, IconCheck } from '@tabler/icons-react'
import { Link } from 'react-router'
import { type Agent, playgroundPath } from '../agents/resource.ts'
import classes from './first-steps.module.css'

interface FirstStepsProps {
  /** How many there are. */
  providers: number
  agents: number
  agent: Agent | undefined
  /** Whether there is a conversation with the agent. */
  talked: boolean
}

interface Step {
  /** The page to do it on; once it is done, the page of its result. */
  to: string
  title: string
  text: string
  isDone: boolean
}

export function FirstSteps({ providers, agents, agent, talked }: FirstStepsProps) {
  const steps: Step[] = [
    {
      to: providers > 0 ? '/providers' : '/providers/new',
      title: 'Connect a provider',
      text: 'Where your models run: a vendor with your API key, or your own server.',
      isDone: providers > 0,
    },
    {
      to: agents > 0 ? '/agents' : '/agents/new',
      title: 'Create an agent',
      text: 'A model, a prompt and tools, behind one address.',
      isDone: agents > 0,
    },
    {
      to: agent ? playgroundPath(agent.id) : '/playground',
      title: 'Talk to it',
      text: 'In the playground; then copy the code that calls it.',
      isDone: talked,
    },
  ]
  const next = steps.findIndex(({ isDone }) => !isDone)
  return (
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
  )
}
