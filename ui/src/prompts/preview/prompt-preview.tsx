/** A prompt as a session's model would get it, for a session that one picks. */
import { Button, Collapse, Select, Text } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { IconEye } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { valuesWithoutSession } from '../../../../src/templates/placeholders.ts'
import { fillPrompt } from '../../../../src/templates/prompt-template.ts'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { allSessions, oneSession, type SessionOverview } from '../../sessions/queries.ts'
import { sessionName } from '../../sessions/words.ts'
import classes from './prompt-preview.module.css'

const MOST = 20

export function PromptPreview({ content }: { content: string }) {
  const [isOpen, { toggle }] = useDisclosure()
  const id = useId()
  if (!content.includes('{{')) return null
  return (
    <div>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconEye size={15} stroke={1.7} aria-hidden />}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={toggle}
      >
        Preview for a session
      </Button>
      <Collapse expanded={isOpen} id={id}>
        {isOpen && <Preview content={content} />}
      </Collapse>
    </div>
  )
}

function Preview({ content }: { content: string }) {
  const [chosen, setChosen] = useState<SessionOverview | null>(null)
  const { data: session, error } = useQuery({
    ...oneSession(chosen?.agentId ?? '', chosen?.id ?? ''),
    enabled: chosen !== null,
  })
  const nobody = valuesWithoutSession()
  const values = session
    ? { sessionId: session.id, user: session.user, metadata: session.metadata, at: nobody.at }
    : nobody
  return (
    <div className={classes.preview}>
      <SessionChoice chosen={chosen} onChoose={setChosen} />
      <ErrorAlert error={error} />
      <section aria-label="The prompt as it is sent">
        <pre className={classes.text} dir="auto">
          {fillPrompt(content, values)}
        </pre>
      </section>
      <Text fz="xs" c="dimmed">
        {session
          ? 'As the next reply of this session would send it. A missing value is empty, or its default.'
          : 'Without a session only the time has a value: what else is named is empty, or its default.'}
      </Text>
    </div>
  )
}

interface SessionChoiceProps {
  chosen: SessionOverview | null
  onChoose: (session: SessionOverview | null) => void
}

function SessionChoice({ chosen, onChoose }: SessionChoiceProps) {
  const [typed, setTyped] = useState('')
  const [q] = useDebouncedValue(typed.trim(), 250)
  // What was chosen stands in the field: it is no search.
  const search = chosen !== null && typed === labelOf(chosen) ? '' : q
  const { data } = useQuery({
    ...allSessions({ limit: MOST, ...(search !== '' && { q: search }) }),
    placeholderData: keepPreviousData,
  })
  const found = data?.sessions ?? []
  const sessions = chosen === null || found.some(({ id }) => id === chosen.id) ? found : [chosen, ...found]
  return (
    <Select
      label="Session"
      placeholder="Search by title or id"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'No session' }}
      nothingFoundMessage="No results"
      filter={({ options }) => options}
      maw={480}
      data={sessions.map((session) => ({ value: session.id, label: labelOf(session) }))}
      value={chosen?.id ?? null}
      onChange={(id) => onChoose(sessions.find((session) => session.id === id) ?? null)}
      searchValue={typed}
      onSearchChange={setTyped}
    />
  )
}

const labelOf = (session: SessionOverview): string =>
  `${sessionName(session)} · ${session.user ?? 'no user'} · ${session.agentName}`
