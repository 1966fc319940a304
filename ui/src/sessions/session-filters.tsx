/** Search and filters above the list. */
import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { allAgents } from '../agents/resource.ts'
import { statuses, type useSessionFilters } from './filters-in-url.ts'
import classes from './sessions.module.css'

type Filters = ReturnType<typeof useSessionFilters>

export function SessionFilters({ paging, filters, isFiltered, setFilter, clear }: Filters) {
  const { data: agents = [] } = useQuery(allAgents)
  return (
    <search className={classes.filters} aria-label="Filter sessions">
      <Typed
        label="Search by title or id"
        value={paging.q}
        onSettled={paging.setQ}
        icon={<IconSearch size={16} stroke={1.7} aria-hidden />}
      />
      <Select
        aria-label="Status"
        placeholder="Any status"
        clearable
        clearButtonProps={{ 'aria-label': 'Any status' }}
        data={Object.entries(statuses).map(([value, label]) => ({ value, label }))}
        value={filters.status ?? null}
        onChange={(value) => setFilter('status', value)}
      />
      <Select
        aria-label="Agent"
        placeholder="Any agent"
        clearable
        clearButtonProps={{ 'aria-label': 'Any agent' }}
        searchable
        limit={100}
        nothingFoundMessage="No results"
        data={agents.map(({ id, name }) => ({ value: id, label: name }))}
        value={filters.agentId ?? null}
        onChange={(value) => setFilter('agentId', value)}
      />
      <Typed label="User" value={filters.user ?? ''} onSettled={(text) => setFilter('user', text)} />
      <Typed label="Error code" value={filters.errorCode ?? ''} onSettled={(text) => setFilter('errorCode', text)} />
      {isFiltered && (
        <Button variant="subtle" color="gray" onClick={clear}>
          Clear
        </Button>
      )}
    </search>
  )
}

interface TypedProps {
  label: string
  value: string
  /** Nothing was typed for a moment. */
  onSettled: (text: string) => void
  icon?: React.ReactNode
}

function Typed({ label, value, onSettled, icon }: TypedProps) {
  const [text, setText] = useState(value)
  // Links and the back button change the address too.
  useEffect(() => setText(value), [value])
  const settle = useDebouncedCallback((typed: string) => onSettled(typed.trim()), 250)
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={icon}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        settle(currentTarget.value)
      }}
    />
  )
}
