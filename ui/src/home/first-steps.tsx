/** The shortest way to a first reply: what is there already, and what comes next. */
import { Text, Title } from '@mantine/core'
import { IconArrowRight, IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { agentList } from '../agents/queries.ts'
import { promptList } from '../prompts/queries.ts'
import { providerList } from '../providers/queries.ts'
import classes from './first-steps.module.css'

const one = { limit: 1, offset: 0 }

export function FirstSteps() {
  const providers = useQuery(providerList(one)).data?.total
  const prompts = useQuery(promptList(one)).data?.total
  const agents = useQuery(agentList(one)).data?.total
  const steps = [
    {
      to: '/providers',
      title: 'Connect a provider',
      text: 'Where the models are: a vendor and its key, or your own server.',
      count: providers,
    },
    { to: '/prompts', title: 'Write a prompt', text: 'Who the agent is and how it answers.', count: prompts },
    { to: '/agents', title: 'Make an agent', text: 'A model, a prompt and tools, behind one address.', count: agents },
    {
      to: '/playground',
      title: 'Try it',
      text: 'Talk to it, stop it, close the window in the middle of a reply.',
      count: 0,
    },
  ]
  return (
    <ol className={classes.steps}>
      {steps.map(({ to, title, text, count }, index) => (
        <li key={to} className={classes.step} data-done={count ? true : undefined}>
          <span className={classes.mark} aria-hidden>
            {count ? <IconCheck size={16} stroke={2.2} /> : index + 1}
          </span>
          <div className={classes.text}>
            <Title order={2}>
              <Link to={to} className={classes.link}>
                {title}
              </Link>
            </Title>
            <Text c="dimmed" fz="sm">
              {text}
            </Text>
          </div>
          {count ? <Text className={classes.count}>{count.toLocaleString('en')}</Text> : null}
          <IconArrowRight size={18} stroke={1.6} className={classes.arrow} aria-hidden />
        </li>
      ))}
    </ol>
  )
}
