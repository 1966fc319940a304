import { Select, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { wordsOf } from '../api.ts'
import { relativeTime } from '../blocks/time-words.ts'
import { foundSessions, type Session, sessionsOf } from './queries.ts'
import type { ChosenSession } from './session-in-url.ts'
import { sessionName, shortId } from './words.ts'

interface SessionPickerProps {
  chosen: ChosenSession | null
  onChoose: (session: ChosenSession) => void
}

/** Finds a session by its title or its agent's name. */
export function SessionPicker({ chosen, onChoose }: SessionPickerProps) {
  // The name that stands in the field gives way to what is typed: it may change meanwhile, and must not replace that.
  const [looking, setLooking] = useState(false)
  const [text, setText] = useState('')
  const name = useSessionName(chosen)
  const [q] = useDebouncedValue(text.trim(), 200)
  const { data = [], error } = useQuery({ ...foundSessions(q), placeholderData: keepPreviousData })
  const sessions = new Map<string, Session>(
    data.flatMap((found) => found.sessions.map((session) => [session.id, session] as const)),
  )
  const groups = data.map(({ agent, sessions }) => ({
    group: agent.name,
    items: sessions.map((session) => ({ value: session.id, label: sessionName(session) })),
  }))
  if (chosen && !sessions.has(chosen.sessionId)) {
    groups.unshift({ group: 'Shown', items: [{ value: chosen.sessionId, label: name }] })
  }
  return (
    <Select
      aria-label="Session"
      placeholder="Find a session by title or agent"
      leftSection={<IconSearch size={16} stroke={1.7} aria-hidden />}
      flex="1 1 260px"
      maw={440}
      searchable
      data={uniqueGroups(groups)}
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
      nothingFoundMessage="No session has this in its title or its agent’s name."
      maxDropdownHeight={380}
      error={error ? wordsOf(error) : undefined}
      comboboxProps={{ shadow: 'md' }}
    />
  )
}

/** Agents may have the same name; groups may not. */
function uniqueGroups<Group extends { group: string }>(groups: Group[]): Group[] {
  const seen = new Map<string, number>()
  return groups.map((one) => {
    const count = (seen.get(one.group) ?? 0) + 1
    seen.set(one.group, count)
    return count === 1 ? one : { ...one, group: `${one.group} (${count})` }
  })
}

function Found({ session, label }: { session: Session | undefined; label: string }) {
  return (
    <div>
      <Text fz="sm" lineClamp={1}>
        {label}
      </Text>
      {session && (
        <Text fz="xs" c="dimmed">
          {relativeTime(session.updatedAt, Date.now())} · {shortId(session.id)}
        </Text>
      )}
    </div>
  )
}

function useSessionName(chosen: ChosenSession | null): string {
  const { data } = useQuery({ ...sessionsOf(chosen?.agentId ?? ''), enabled: chosen !== null })
  if (chosen === null) return ''
  return sessionName(data?.find(({ id }) => id === chosen.sessionId) ?? { id: chosen.sessionId, title: null })
}
