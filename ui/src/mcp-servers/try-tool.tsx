/** Calls a tool of the server once, with arguments from a form made of its schema. */
import { Badge, Button, Text } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { CodeBlock } from '../blocks/code-block.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { indented, wholeNumber } from '../blocks/words.ts'
import { ArgumentFields } from '../http-tools/argument-fields.tsx'
import { argumentsOf, type Typed } from '../http-tools/arguments.ts'
import { argumentsIn } from '../http-tools/schema-draft.ts'
import { useRefusal } from '../login/roles.ts'
import classes from './mcp-servers.module.css'
import { type McpTool, tryMcpTool } from './resource.ts'

export function TryTool({ serverId, tool }: { serverId: string; tool: McpTool }) {
  const [typed, setTyped] = useState<Typed>({ values: {}, json: '{}' })
  const rows = argumentsIn(tool.inputSchema)
  const refusal = useRefusal('change')
  const run = useMutation({
    mutationFn: async () => tryMcpTool(serverId, { tool: tool.name, arguments: argumentsOf(rows, typed) }),
  })
  return (
    <form
      noValidate
      className={classes.trial}
      aria-label={`Try ${tool.name}`}
      onSubmit={(event) => {
        event.preventDefault()
        run.mutate()
      }}
    >
      <ArgumentFields rows={rows} typed={typed} onChange={setTyped} />
      <Button
        type="submit"
        variant="light"
        loading={run.isPending}
        disabled={refusal !== undefined}
        title={refusal ?? 'Makes a real call, using the server as last saved.'}
        leftSection={<IconPlayerPlay size={15} aria-hidden />}
      >
        Run
      </Button>
      <div role="status">
        <ErrorAlert error={run.error} />
        {run.data && (
          <>
            <div className={classes.outcome}>
              <Badge color={run.data.ok ? 'accent' : 'red'} variant="light" tt="none">
                {run.data.ok ? 'Answered' : 'Failed'}
              </Badge>
              <Text fz="sm" c="dimmed">
                {wholeNumber(run.data.latencyMs)} ms
              </Text>
            </div>
            <CodeBlock code={indented(run.data.content)} caption="As a model reads it" />
          </>
        )}
      </div>
    </form>
  )
}
