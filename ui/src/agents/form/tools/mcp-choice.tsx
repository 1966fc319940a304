/** An MCP server in an agent's choice: not used, all of its tools, or some of them. */
import { Button, Checkbox, Loader, SegmentedControl, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { wordsOf } from '../../../api.ts'
import { Notice } from '../../../blocks/messages/notice.tsx'
import { type McpServer, type McpTool, mcpTools } from '../../../mcp-servers/resource.ts'
import classes from '../../agents.module.css'

interface McpChoiceProps {
  server: McpServer
  /** Names of tools; `['*']` for all; null: the server is not used. */
  chosen: string[] | null
  onChange: (toolNames: string[] | null) => void
}

const everything = '*'

export function McpChoice({ server, chosen, onChange }: McpChoiceProps) {
  const { data: tools, error, isFetching, refetch } = useQuery({ ...mcpTools(server.id), enabled: chosen !== null })
  const all = chosen?.includes(everything) === true
  return (
    <div className={classes.server}>
      <Checkbox
        className={classes.tool ?? ''}
        classNames={{ body: classes.toolBody ?? '', labelWrapper: classes.toolLabel ?? '' }}
        label={<span className={classes.toolName}>{server.name}</span>}
        description={server.url}
        checked={chosen !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? [everything] : null)}
      />
      {chosen && (
        <div className={classes.serverTools}>
          <SegmentedControl
            size="xs"
            aria-label={`Tools of ${server.name}`}
            value={all ? 'all' : 'some'}
            onChange={(value) => onChange(value === 'all' ? [everything] : (tools?.map(({ name }) => name) ?? []))}
            data={[
              { value: 'all', label: 'All, including new ones' },
              { value: 'some', label: 'Only these' },
            ]}
          />
          {server.auth === 'user' && (
            <Text fz="sm" c="dimmed">
              Each user signs in at this server.
            </Text>
          )}
          {error && server.auth !== 'user' && (
            <Unreachable words={wordsOf(error)} isFetching={isFetching} retry={() => void refetch()} />
          )}
          {!tools && isFetching && !error && <Loader size="xs" aria-label={`Asking ${server.name}`} />}
          {all ? <AllOf tools={tools} /> : <Some tools={tools} server={server} chosen={chosen} onChange={onChange} />}
        </div>
      )}
    </div>
  )
}

function Unreachable({ words, isFetching, retry }: { words: string; isFetching: boolean; retry: () => void }) {
  return (
    <Notice title="The server cannot be reached">
      <Text fz="sm" mb={8}>
        {words} Your choice is kept.
      </Text>
      <Button variant="default" size="xs" loading={isFetching} onClick={retry}>
        Refresh tools
      </Button>
    </Notice>
  )
}

function AllOf({ tools }: { tools: McpTool[] | undefined }) {
  if (!tools) return null
  return (
    <Text fz="sm" c="dimmed">
      {tools.length === 0 ? 'It offers no tools now.' : `Now: ${tools.map(({ name }) => name).join(', ')}.`}
    </Text>
  )
}

type SomeProps = Omit<McpChoiceProps, 'chosen'> & { tools: McpTool[] | undefined; chosen: string[] }

function Some({ tools, server, chosen, onChange }: SomeProps) {
  const gone = chosen.filter((name) => tools?.some((tool) => tool.name === name) !== true)
  const known = gone.map((name) => ({ name, description: tools ? 'No longer offered.' : '' }))
  return (
    <Checkbox.Group value={chosen} onChange={onChange} aria-label={`Single tools of ${server.name}`}>
      <div className={classes.ticks}>
        {[...(tools ?? []), ...known].map(({ name, description }) => (
          <Checkbox
            key={name}
            size="xs"
            value={name}
            label={name}
            description={<span className={classes.clamp}>{description}</span>}
          />
        ))}
      </div>
      {chosen.length === 0 && (
        <Text fz="sm" c="dimmed" mt="xs">
          No tool is selected, so none is offered.
        </Text>
      )}
    </Checkbox.Group>
  )
}
