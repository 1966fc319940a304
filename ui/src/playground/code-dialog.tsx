/** The current message as code to be copied. */
import { Anchor, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { type Agent, deployPath, keyNeeded } from '../agents/resource.ts'
import { type Language, languages, snippets } from '../agents/use-it/snippets.ts'
import { OpenedModal } from '../blocks/late/opened-modal.tsx'
import { Code } from './markdown/code.tsx'

interface CodeDialogProps {
  agent: Agent
  /** Undefined when the code creates a session first. */
  sessionId: string | undefined
  message: string
  onClose: () => void
}

export default function CodeDialog({ agent, sessionId, message, onClose }: CodeDialogProps) {
  const needsKey = useQuery(keyNeeded(agent.id)).data === true
  const base = `${location.origin}${deployPath(agent.id)}`
  const place = { base, model: agent.model, needsKey, message, ...(sessionId !== undefined && { sessionId }) }
  // The code creates the session, unless it exists, and sends; the agent's page has the rest.
  const steps = (language: Language) => snippets(place, 'session', language).slice(sessionId === undefined ? 0 : 1, 2)
  return (
    <OpenedModal onClose={onClose} title="Code" size="xl">
      <Text fz="sm" c="dimmed" mb="md">
        {sessionId === undefined ? 'Creates a session and sends the message.' : 'Sends the message in this session.'}{' '}
        {agent.hasDraft && 'The code is answered by the live version, not by the draft. '}
        <Anchor component={Link} to={`/agents/${agent.id}?tab=use`} inherit>
          How to resume, cancel and call without a session
        </Anchor>
      </Text>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="md">
          {languages.map(({ value, label }, index) => (
            <Tabs.Tab key={value} value={value} data-autofocus={index === 0 || undefined}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {languages.map(({ value, grammar }) => (
          <Tabs.Panel key={value} value={value}>
            <Stack gap="md">
              {steps(value).map(({ title, code }) => (
                <Code key={title} code={code} language={grammar} caption={title} />
              ))}
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
    </OpenedModal>
  )
}
