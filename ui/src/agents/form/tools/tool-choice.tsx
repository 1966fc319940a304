/** All that the agent could call: built-in tools, HTTP tools, and the tools of MCP servers. */
import { Anchor, Checkbox, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { NameSearch } from '../../../blocks/pages/name-search.tsx'
import { builtInTools } from '../../../built-in-tools/queries.ts'
import { httpToolResource } from '../../../http-tools/resource.ts'
import { mcpServerResource } from '../../../mcp-servers/resource.ts'
import type { AgentValues } from '../../agent-values.ts'
import classes from '../../agents.module.css'
import { agentResource } from '../../resource.ts'
import { McpChoice } from './mcp-choice.tsx'

type Form = UseFormReturnType<AgentValues>

export function ToolChoice({ form }: { form: Form }) {
  const builtIn = useQuery(builtInTools).data ?? []
  const http = useQuery(httpToolResource.all).data
  const agents = useQuery(agentResource.all).data
  return (
    <div className={classes.toolGroups}>
      <Ticks
        title="Built-in tools"
        {...plain('builtInToolIds', form)}
        items={builtIn.map(({ id, name, description }) => ({ id, name, description }))}
      />
      <Ticks
        title="HTTP tools"
        {...plain('httpToolIds', form)}
        items={http?.map(({ id, name, method, description }) => ({ id, name, description, mark: method })) ?? []}
        empty={
          http?.length === 0 && (
            <>
              None yet. <Leading to="/tools/http/new">Create an HTTP tool</Leading> that calls any web API.
            </>
          )
        }
      />
      <McpServers form={form} />
      <Ticks
        title="Agents"
        value={form.values.agentTools.map(({ agentId }) => agentId)}
        onChange={(ids) => form.setFieldValue('agentTools', agentsOf(ids, form.values))}
        error={Object.entries(form.errors).find(([path]) => path.startsWith('agentTools'))?.[1]}
        items={agents?.map(({ id, name, model }) => ({ id, name, description: `Answers by ${model}.` })) ?? []}
      />
    </div>
  )
}

function Leading({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} inherit underline="always">
      {children}
    </Anchor>
  )
}

interface Item {
  id: string
  name: string
  description: string
  mark?: string
}
interface TicksProps {
  title: string
  value: string[]
  onChange: (ids: string[]) => void
  error: ReactNode
  items: Item[]
  empty?: ReactNode
}

/** Returns the props for a field that is a list of ids. */
const plain = (path: 'httpToolIds' | 'builtInToolIds', form: Form) => ({
  value: form.values[path],
  onChange: (ids: string[]) => form.setFieldValue(path, ids),
  error: form.errors[path],
})

/** Returns the agents with these ids; those that were chosen keep their names and descriptions. */
const agentsOf = (ids: readonly string[], { agentTools }: AgentValues): AgentValues['agentTools'] =>
  ids.map((id) => agentTools.find(({ agentId }) => agentId === id) ?? { agentId: id, name: null, description: null })

const Ticks = ({ title, value, onChange, error, items, empty }: TicksProps) => (
  <Checkbox.Group label={title} value={value} onChange={onChange} error={error}>
    <div className={classes.toolList}>
      {empty && (
        <Text fz="sm" c="dimmed" p="md">
          {empty}
        </Text>
      )}
      <NameSearch items={items} name={({ name }) => name} nouns={title} m="xs">
        {(found) =>
          found.map(({ id, name, description, mark }) => (
            <Checkbox
              key={id}
              value={id}
              className={classes.tool ?? ''}
              classNames={{ body: classes.toolBody ?? '', labelWrapper: classes.toolLabel ?? '' }}
              label={
                <>
                  <span className={classes.toolName}>{name}</span>
                  {mark && <span className={classes.method}>{mark}</span>}
                </>
              }
              description={<span className={classes.clamp}>{description}</span>}
            />
          ))
        }
      </NameSearch>
    </div>
  </Checkbox.Group>
)

function McpServers({ form }: { form: Form }) {
  const { data: servers } = useQuery(mcpServerResource.all)
  const chosen = form.values.mcpServers
  const error = Object.entries(form.errors).find(([path]) => path.startsWith('mcpServers'))?.[1]
  return (
    <fieldset className={classes.plain}>
      <Text component="legend" fz="sm" fw={500} mb={4}>
        MCP servers
      </Text>
      {error && (
        <Text fz="sm" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
      <div className={classes.toolList}>
        {servers?.length === 0 && (
          <Text fz="sm" c="dimmed" p="md">
            None yet. <Leading to="/tools/mcp/new">Connect an MCP server</Leading> and pick from its tools.
          </Text>
        )}
        {servers?.map((server) => (
          <McpChoice
            key={server.id}
            server={server}
            chosen={chosen.find(({ mcpServerId }) => mcpServerId === server.id)?.toolNames ?? null}
            onChange={(toolNames) => {
              const others = chosen.filter(({ mcpServerId }) => mcpServerId !== server.id)
              const own = toolNames === null ? [] : [{ mcpServerId: server.id, toolNames }]
              form.setFieldValue('mcpServers', [...others, ...own])
            }}
          />
        ))}
      </div>
    </fieldset>
  )
}
