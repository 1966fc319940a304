/** The tools that an MCP server offers, each with its arguments. */

import { Accordion, Button, Loader, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { writeExact } from '../../../src/untrusted/exact-json.ts'
import { wordsOf } from '../api.ts'
import { CodeBlock } from '../blocks/code-block.tsx'
import { Notice } from '../blocks/messages/notice.tsx'
import { NameSearch } from '../blocks/pages/name-search.tsx'
import { Panel } from '../blocks/panel.tsx'
import classes from './mcp-servers.module.css'
import { type McpTool, mcpTools } from './resource.ts'
import { TryTool } from './try-tool.tsx'

export function Discovery({ serverId, isSignedIn }: { serverId: string; isSignedIn: boolean }) {
  const { data: tools, error, isFetching, refetch } = useQuery(mcpTools(serverId))
  return (
    <Panel
      title={tools && !error ? `Tools (${tools.length})` : 'Tools'}
      action={
        <Button
          variant="default"
          size="xs"
          leftSection={<IconRefresh size={14} aria-hidden />}
          loading={isFetching}
          onClick={() => void refetch()}
        >
          Refresh tools
        </Button>
      }
    >
      <div role="status">
        {isFetching && !tools && !error && <Loader size="sm" aria-label="Asking the server for its tools" />}
        {error && (
          <Notice title={isSignedIn ? 'The tools are not shown here' : 'The server does not answer'}>
            <Text fz="sm">{wordsOf(error)}</Text>
            {!isSignedIn && (
              <Text fz="sm" mt={8}>
                Is it running, and can this machine reach it? Check the URL, the transport and the headers. Agents that
                use it continue without its tools.
              </Text>
            )}
          </Notice>
        )}
        {tools?.length === 0 && !error && (
          <Text c="dimmed" fz="sm">
            It responds, but offers no tools.
          </Text>
        )}
      </div>
      {tools && !error && <Tools serverId={serverId} tools={tools} />}
    </Panel>
  )
}

const Tools = ({ serverId, tools }: { serverId: string; tools: McpTool[] }) => (
  <NameSearch items={tools} name={({ name }) => name} nouns="tools">
    {(found) => (
      <Accordion multiple chevronPosition="left" className={classes.tools ?? ''}>
        {found.map((tool) => (
          <Accordion.Item key={tool.name} value={tool.name}>
            <Accordion.Control>
              <Text fw={500} fz="sm" className={classes.name ?? ''}>
                {tool.name}
              </Text>
              <Text fz="xs" c="dimmed" lineClamp={2}>
                {tool.description}
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              {tool.description.length > 90 && (
                <Text fz="sm" mb="sm" className={classes.words ?? ''}>
                  {tool.description}
                </Text>
              )}
              <CodeBlock code={writeExact(tool.inputSchema, 2)} caption={`Arguments of ${tool.name}`} />
              <TryTool serverId={serverId} tool={tool} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    )}
  </NameSearch>
)
