import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { SettledText } from '../blocks/forms/settled-text.tsx'
import { mcpServerResource } from '../mcp-servers/resource.ts'
import classes from './connections.module.css'

interface ConnectionFiltersProps {
  user: string
  mcpServerId: string
  /** Null removes a filter. */
  onChange: (changes: { user: string | null } | { server: string | null }) => void
}

export function ConnectionFilters({ user, mcpServerId, onChange }: ConnectionFiltersProps) {
  const { data: servers = [] } = useQuery(mcpServerResource.all)
  return (
    <search className={classes.filters} aria-label="Filter the connections">
      <SettledText label="Whole user id" value={user} onSettled={(text) => onChange({ user: text || null })} />
      <Select
        aria-label="MCP server"
        placeholder="Any MCP server"
        clearable
        clearButtonProps={{ 'aria-label': 'Any MCP server' }}
        data={servers
          .filter(({ auth, id }) => auth === 'user' || id === mcpServerId)
          .map(({ id, name }) => ({ value: id, label: name }))}
        value={mcpServerId || null}
        onChange={(server) => onChange({ server })}
      />
    </search>
  )
}
