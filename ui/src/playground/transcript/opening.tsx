/** Shown in place of an empty conversation. */
import { Text, Title } from '@mantine/core'
import { IconMessageCircle } from '@tabler/icons-react'
import type { Agent } from '../../agents/resource.ts'
import { openingWords } from '../../shell/first/first-words.ts'
import classes from './opening.module.css'

const modelOpenings = [
  'Hello! What can you do?',
  'Explain what a session is in two sentences.',
  'Write a haiku about waiting.',
]

/** The demo model only says what it received; these show how replies run, stop and fail. */
const demoOpenings = ['Hello! What can you do?', '/slow 30', '/fail 5']

/** The suggestions for a first message. */
export function Opening({ agent, onPick }: { agent: Agent; onPick: (text: string) => void }) {
  const openings = agent.model === 'demo' ? demoOpenings : modelOpenings
  return (
    <div className={classes.opening}>
      <div className={classes.openingIcon}>
        <IconMessageCircle size={28} stroke={1.5} aria-hidden />
      </div>
      <Title order={2}>Talk to {agent.name}</Title>
      <Text c="dimmed" maw={420}>
        {openingWords}
      </Text>
      <div className={classes.openings}>
        {openings.map((text) => (
          <button type="button" key={text} onClick={() => onPick(text)}>
            {text}
          </button>
        ))}
      </div>
    </div>
  )
}
