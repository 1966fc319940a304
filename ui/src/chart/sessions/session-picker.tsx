import { Select, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { wordsOf } from '../../api.ts'
import { relativeTime } from '../../blocks/time-words.ts'
import { allSessions, oneSession, type SessionOverview } from '../../sessions/queries.ts'
import { sessionName, timedShortId } from '../../sessions/words.ts'
import type { ChosenSession } from './session-in-url.ts'

interface SessionPickerProps {
  chosen: ChosenSession | null
  onChoose: (session: ChosenSession) => void
}

const MOST_FOUND = 30

/** The sessions that the picker offers before anything is typed. */
export const newestSessions = allSessions({ limit: MOST_FOUND })

/** Finds a session of any agent by its title, or by the beginning of its id. */
export function SessionPicker({ chosen, onChoose }: SessionPickerProps) {
  // The name that stands in the field gives way to what is typed: it may change meanwhile, and must not replace that.
  const [looking, setLooking] = useState(false)
  const [text, setText] = useState('')
  const name = useSessionName(chosen)
  const [q] = useDebouncedValue(text.trim(), 200)
  const { data, error } = useQuery({
    ...allSessions({ limit: MOST_FOUND, ...(q && { q }) }),
    placeholderData: keepPreviousData,
  })
  const found = data?.sessions ?? []
  const sessions = new Map<string, SessionOverview>(found.map((session) => [session.id, session]))
  const options = found.map((session) => ({ value: session.id, label: sessionName(session) }))
  if (chosen && !sessions.has(chosen.sessionId)) {
    options.unshift({ value: chosen.sessionId, label: name })
  }
  return (
    <Select
      aria-label="Session"
      placeholder="Find a session by title or id"
      leftSection={<IconSearch size={16} stroke={1.7} aria-hidden />}
      flex="1 1 260px"
      maw={440}
      searchable
      data={options}
      value={chosen?.sessionId ?? null}
      searchValue={looking ? text : name}
      onInput={({ currentTarget: { value } }) => setText(value)}
      filter={({ options }) => options}
      allowDeselect={false}
      onDropdownOpen={() => setLooking(true)}
      onDropdownClose={() => {
        setLooking(false)
        setText('')
      }}
      // Not onChange: the session that is followed may be chosen, and stays then.
      onOptionSubmit={(id) => {
        const session = sessions.get(id)
        if (session) onChoose({ agentId: session.agentId, sessionId: session.id })
      }}
      renderOption={({ option }) => <Found session={sessions.get(option.value)} label={option.label} />}
      nothingFoundMessage="No results"
      maxDropdownHeight={380}
      error={error ? wordsOf(error) : undefined}
      comboboxProps={{ shadow: 'md' }}
    />
  )
}

function Found({ session, label }: { session: SessionOverview | undefined; label: string }) {
  return (
    <div>
      <Text fz="sm" lineClamp={1}>
        {label}
      </Text>
      {session && (
        <Text fz="xs" c="dimmed">
          {session.agentName} · {relativeTime(session.updatedAt, Date.now())} · {timedShortId(session.id)}
        </Text>
      )}
    </div>
  )
}

function useSessionName(chosen: ChosenSession | null): string {
  const { agentId = '', sessionId = '' } = chosen ?? {}
  const { data } = useQuery({ ...oneSession(agentId, sessionId), enabled: chosen !== null })
  return chosen === null ? '' : data ? sessionName(data) : timedShortId(sessionId)
}
